(function () {
  history.replaceState(null, "", window.location.pathname); // the portal's answer is used up, and is nobody's to see
  if (window.opener) {
    window.opener.postMessage({ svc: "nudge" }, window.location.origin);
  }
})();
