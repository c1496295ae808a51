/** VitePress's default theme without its web fonts, with the service's colours and the reader's own values. */
import theme from "vitepress/theme-without-fonts";
import { h, nextTick, onMounted, watch } from "vue";
import { useRoute, withBase } from "vitepress";
import { showOwnValues } from "./own.mjs";
import { keepLanguage } from "./language.mjs";
import "./site.css";

export default {
  extends: theme,
  Layout: () => h(theme.Layout, null, { "not-found": missing }),
  setup() {
    const route = useRoute();
    const adapt = () => {
      makeScrollable();
      keepLanguage();
      void showOwnValues();
    };
    onMounted(adapt);
    watch(
      () => route.data,
      () => nextTick(adapt),
    );
  },
};

/** Lets keyboard users scroll wide code blocks and tables. */
function makeScrollable() {
  for (const block of document.querySelectorAll(".vp-doc pre, .vp-doc table")) block.tabIndex = 0;
}

const missing = () =>
  h("main", { class: "missing" }, [
    h("h1", "Page not found"),
    h("p", ["Check the URL, search, or open the ", h("a", { href: withBase("/index.html") }, "first page"), "."]),
  ]);
