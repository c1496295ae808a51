(function () {
  var answer = new URLSearchParams(window.location.search);
  new URLSearchParams(window.location.hash.slice(1)).forEach(function (value, name) { answer.set(name, value); });
  answer.set("returned", "fragment");
  window.location.replace(window.location.pathname + "?" + answer);
})();
