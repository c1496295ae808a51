import assert from "node:assert/strict";
import test from "node:test";
import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { wordsIn } from "../../sdk/words.ts";
import { wordsOf } from "../testing/readability.ts";
import { words as en } from "./en.ts";
import { words as es } from "./es.ts";
import { glossary } from "./glossary.ts";
import { words as tefcaEn } from "./tefca-en.ts";
import { words as tefcaEs } from "./tefca-es.ts";

const english: Record<string, string> = { ...en, ...tefcaEn, ...wordsIn("en") };
const spanish: Record<string, string> = { ...es, ...tefcaEs, ...wordsIn("es") };

/** Matches a term's form as a whole word. \b does not support accented letters. */
const whole = (form: string): RegExp => new RegExp(`(?<![\\p{L}\\p{N}_])(?:${form})(?![\\p{L}\\p{N}_])`, "iu");

const findings = (texts: Iterable<readonly [string, string]>, forms: string[]): string[] =>
  [...texts].flatMap(([name, text]) =>
    forms.filter((form) => whole(form).test(text)).map((form) => `${name}: ${form}: ${text}`),
  );

const forbidden = (scope: "patients" | "dashboard", lang: "en" | "es"): string[] =>
  glossary.filter((term) => (term.scope ?? scope) === scope).flatMap(({ not }) => not?.[lang] ?? []);

/**
 * Returns the string literals in JavaScript code. Expressions in a template are replaced with x, and the literals in
 * such expressions are also returned.
 */
function literals(code: string): string[] {
  const found: string[] = [];
  let at = 0;
  const string = (quote: string): void => {
    let text = "";
    for (at += 1; at < code.length && code[at] !== quote; at += 1) {
      if (code[at] === "\\") at += 1;
      else if (quote === "`" && code.startsWith("${", at)) {
        at += 2;
        expression("}");
        text += "x";
        continue;
      }
      text += code[at];
    }
    found.push(text);
  };
  const expression = (end: string): void => {
    for (let depth = 0; at < code.length; at += 1) {
      const char = code[at] ?? "";
      if (char === end && depth === 0) return;
      if (char === "{") depth += 1;
      if (char === "}") depth -= 1;
      if ("\"'`".includes(char)) string(char);
    }
  };
  expression("");
  return found;
}

/** Returns the dashboard's visible strings by source file. esbuild turns the text between tags into strings. */
function dashboardTexts(): [string, string][] {
  const { transformSync } = createRequire(join(process.cwd(), "package.json"))("esbuild") as typeof import("esbuild");
  const files = readdirSync("dashboard", { recursive: true })
    .map(String)
    .filter((file) => /\.tsx?$/.test(file) && !/\.test\.|testing|snippets/.test(file));
  return files.flatMap((file) => {
    const { code } = transformSync(readFileSync(`dashboard/${file}`, "utf8"), {
      loader: file.endsWith("x") ? "tsx" : "ts",
      jsx: "automatic",
      minifyWhitespace: true,
      charset: "utf8",
    });
    return literals(code)
      .filter((text) => /^[A-ZÁÉ…]| /.test(text) && /[a-z]/.test(text))
      .map((text) => [file, text] as [string, string]);
  });
}

test("English patient texts contain no forbidden words", () => {
  assert.deepEqual(findings(Object.entries(english), forbidden("patients", "en")), []);
});

test("Spanish patient texts contain no forbidden words", () => {
  assert.deepEqual(findings(Object.entries(spanish), forbidden("patients", "es")), []);
});

test("the dashboard's text contains no forbidden words", () => {
  const texts = dashboardTexts();
  assert.ok(texts.length > 300, `${texts.length} texts found`);
  assert.deepEqual(findings(texts, forbidden("dashboard", "en")), []);
});

test("dashboard sentences contain at most 18 words", () => {
  const sentences = dashboardTexts().flatMap(([file, text]) =>
    text.split(/(?<=[.!?])\s+/).map((sentence) => [file, sentence] as const),
  );
  assert.deepEqual(
    sentences.filter(([, sentence]) => wordsOf(sentence).length > 18),
    [],
  );
});

test("Spanish patient texts use the Spanish equivalent of each English glossary term", () => {
  const wrong = glossary
    .filter(({ scope }) => scope !== "dashboard")
    .flatMap(({ en: term, es: termEs, forms }) => {
      const [own, other] = [whole(forms?.en ?? `${term}s?`), whole(forms?.es ?? `${termEs}s?`)];
      return Object.entries(english)
        .filter(([word, text]) => own.test(text) && !other.test(spanish[word] ?? ""))
        .map(([word, text]) => `${term}: ${text} → ${spanish[word]}`);
    });
  assert.deepEqual(wrong, []);
});

test("each glossary term is used, and no entry forbids another entry's term", () => {
  const texts = [...Object.values(english), ...dashboardTexts().map(([, text]) => text)];
  assert.deepEqual(
    glossary
      .filter(({ en: term, forms }) => !texts.some((text) => whole(forms?.en ?? `${term}s?`).test(text)))
      .map(({ en: term }) => term),
    [],
  );
  assert.deepEqual(
    findings(
      glossary.map(({ en: term }) => [term, term] as const),
      [...forbidden("patients", "en"), ...forbidden("dashboard", "en")],
    ),
    [],
  );
});

/** Verb forms of tú and vosotros that a list can distinguish from the forms of usted. */
const familiar = [
  "tú|tu|tus|te|ti|contigo|tuy[oa]s?|vos|vosotr[oa]s|os|vuestr[oa]s?",
  "eres|estás|has|vas|haces|puedes|tienes|quieres|debes|sabes|ves|usas|inicias|recibes|necesitas|vuelves|podrás|tendrás|verás|recibirás|volverás|puedas|tengas|quieras|uses",
  "haz|pon|ten|ven|sal|escribe(lo)?|elige(lo)?|busca(lo)?|búscalo|revisa(lo)?|revísalo|inténtalo|intenta|espera|ábrel[ao]|ciérral[ao]|pídel[ao]s?|agrégalos|autorízalo|verifica|comparte|avísa\\w+|dinos|mira|pulsa|haga clic en tu",
  "(?!(?:existe|consiste|asiste|insiste|resiste|baste|contraste)\\b)\\p{L}{2,}(?:aste|iste)s?",
];

test("Spanish patient texts address the patient as usted", () => {
  // "Comparte" and similar words are also third-person forms, so only a command at the start of a sentence counts.
  const sentences = Object.entries(spanish).flatMap(([word, text]) =>
    text.split(/(?<=[.!?])\s+/).map((sentence) => [word, sentence] as const),
  );
  const [pronouns = "", verbs = "", commands = "", past = ""] = familiar;
  assert.deepEqual(findings(sentences, [pronouns, verbs, past]), []);
  assert.deepEqual(
    sentences.filter(([, sentence]) => new RegExp(`^[¡¿]?(?:${commands})(?![\\p{L}])`, "iu").test(sentence)),
    [],
  );
});

test("the list of familiar forms matches tú but not usted", () => {
  const found = (text: string): boolean => findings([["", text]], familiar).length > 0;
  for (const text of ["Escribe tu código", "¿Ya terminaste?", "Puedes cerrar", "Inténtalo"])
    assert.ok(found(text), text);
  for (const text of ["Escriba su código", "¿Ya terminó?", "Puede cerrar", "Inténtelo de nuevo", "Esto ya no existe"])
    assert.ok(!found(text), text);
});
