/* Runs before the first paint: finds the site's base path, and applies the reader's choice of dark mode. */
(() => {
  globalThis.siteBase = new URL(".", document.currentScript.src).pathname;
  let chosen = null;
  try {
    chosen = localStorage.getItem("vitepress-theme-appearance");
  } catch {
    // storage is blocked
  }
  const { classList } = document.documentElement;
  const isDark = chosen === "dark" || (chosen !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
  classList.toggle("dark", isDark);
  classList.toggle("mac", /Mac|iPhone|iPod|iPad/i.test(navigator.platform));
})();
