(function () {
  document.cookie = "probe=1; path=/; SameSite=Lax";
  var kept = document.cookie.indexOf("probe=1") >= 0; // navigator.cookieEnabled is true in WebKit without cookies
  document.cookie = "probe=; path=/; max-age=0; SameSite=Lax";
  if (window.opener) { // the frame needs the window's name to identify its attempt
    var left = { svc: "left", name: window.name };
    if (!kept) { left.cookies = false; }
    window.opener.postMessage(left, window.location.origin);
  }
  if (!kept) {
    document.querySelector("[data-portal]").hidden = true;
    document.querySelector("[data-cookies]").hidden = false;
    return;
  }
  window.location.replace(document.querySelector("[data-portal]").dataset.portal);
})();
