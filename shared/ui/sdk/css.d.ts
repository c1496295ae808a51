/** The text of a style sheet, minified by the build. */
declare module "*.css" {
  const text: string;
  export default text;
}
