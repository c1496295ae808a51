(function () {
  if (window.opener) { // the frame, which learns in this way which window is its attempt's
    window.opener.postMessage({ svc: "left", name: window.name }, window.location.origin);
  }
  window.location.replace(document.querySelector("[data-portal]").dataset.portal);
})();
