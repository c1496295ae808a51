(function () {
  history.replaceState(null, "", window.location.pathname); // removes the portal's response from the address bar and the history
  if (window.opener) {
    window.opener.postMessage({ svc: "nudge" }, window.location.origin);
  }
})();
