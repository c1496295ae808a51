(function () {
  document.cookie = "probe=1; path=/; SameSite=Lax";
  var kept = document.cookie.indexOf("probe=1") >= 0; // navigator.cookieEnabled is true in WebKit without cookies
  document.cookie = "probe=; path=/; max-age=0; SameSite=Lax";
  var portal = document.querySelector("[data-portal]");
  function leave() { window.location.replace(portal.dataset.portal); }
  if (window.opener) { // the frame needs the window's name to identify its attempt
    var left = { svc: "left", name: window.name };
    if (!kept) { left.cookies = false; }
    window.opener.postMessage(left, window.location.origin);
  }
  if (!kept) {
    portal.hidden = true;
    document.querySelector("[data-cookies]").hidden = false;
    return;
  }
  if (!window.opener) { leave(); return; }
  // If the window navigates before the message is delivered, the message has no source, and the frame can't close the
  // window. The window therefore waits for the frame's response, or a second if the frame no longer exists.
  var timer = window.setTimeout(leave, 1000);
  window.addEventListener("message", function (event) {
    if (event.origin !== window.location.origin || !event.data || event.data.svc !== "leave") { return; }
    window.clearTimeout(timer);
    leave();
  });
})();
