setTimeout(function () { window.close(); }, 1500); // where a browser does not let it, the words stay
