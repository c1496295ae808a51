/** The code that the first view doesn't need. The build writes the code to a separate file, which loads while the patient reads the first view (build.mjs). */
import "../kit/words/later.ts";

export { Leaving, Places, views } from "./views/rest.tsx";
