setTimeout(function () { window.close(); }, 1500); // if the browser refuses, the page stays
