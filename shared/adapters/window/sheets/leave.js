(function () {
  document.cookie = "probe=1; path=/; SameSite=Lax";
  var kept = document.cookie.indexOf("probe=1") >= 0; // navigator.cookieEnabled is true in WebKit without cookies
  document.cookie = "probe=; path=/; max-age=0; SameSite=Lax";
  var portal = document.querySelector("[data-portal]");
  var left = { svc: "left", name: window.name }; // the frame needs the window's name to identify its attempt
  if (!kept) {
    left.cookies = false;
    portal.hidden = true;
    document.querySelector("[data-cookies]").hidden = false;
  }
  if (window.opener) { window.opener.postMessage(left, window.location.origin); }
  if (!kept) { return; }
  var wait;
  function leave() {
    window.clearTimeout(wait);
    window.removeEventListener("message", heard);
    window.location.replace(portal.dataset.portal);
  }
  function heard(event) {
    if (event.origin === window.location.origin && event.data && event.data.svc === "leave") { leave(); }
  }
  if (!window.opener) { leave(); return; }
  // A message has no source if its window navigates before the message is delivered. The frame could then not close the
  // window. A frame that is gone does not answer.
  window.addEventListener("message", heard);
  wait = window.setTimeout(leave, 1000);
})();
