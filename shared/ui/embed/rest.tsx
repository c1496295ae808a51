/** What the first view doesn't need, which loads while the patient reads it. The build writes them to a separate file (build.mjs). */
export { Leaving, Places, views } from "./views/rest.tsx";
