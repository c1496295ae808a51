/**
 * The glossary of both interfaces in both languages. Each concept has exactly one term. glossary.test.ts applies the
 * glossary to all patient texts and to the dashboard's English texts. A form may be a regular expression, and matches
 * whole words in any case.
 */

export interface Term {
  en: string;
  es: string;
  /**
   * Forms of the term, if the term has forms other than itself and its plural. If an English text contains a form, its
   * Spanish text must also contain a form.
   */
  forms?: { en?: string; es: string };
  /** Words to avoid. */
  not?: { en?: string[]; es?: string[] };
  /** The interface to which the term applies. By default, the term applies to both interfaces. */
  scope?: "patients" | "dashboard";
}

export const glossary: Term[] = [
  // Records that patients share.
  { en: "record", es: "registro", not: { es: ["expedientes?", "historial(es)?", "récords?"] } },
  { en: "hospital", es: "hospital", forms: { es: "hospital(es)?" } },
  { en: "clinic", es: "clínica" },
  { en: "health system", es: "sistema de salud" },
  { en: "patient portal", es: "portal del paciente", not: { es: ["portal de pacientes?"] } },
  { en: "patient", es: "paciente" },
  {
    en: "medicine",
    es: "medicamento",
    scope: "patients",
    not: { en: ["medications?", "drugs?"], es: ["medicinas?", "fármacos?"] },
  },
  {
    en: "place",
    es: "lugar",
    scope: "patients",
    forms: { es: "lugar(es)?" },
    not: { en: ["facilit(y|ies)"], es: ["centros?", "sitios?(?! web)"] },
  },
  { en: "network", es: "red", forms: { es: "red(es)?" } },
  // Actions of patients.
  {
    en: "sign in",
    es: "iniciar sesión",
    forms: { en: "sign(ing)?[ -]in|your sign-in", es: "(iniciar|inicie|inicia|inició|inicio de) sesión" },
    not: { en: ["log[ -]?in", "logged", "log on"], es: ["ingrese", "ingresar", "acceder", "loguear(se)?"] },
  },
  { en: "password", es: "contraseña", not: { en: ["passcode"], es: ["clave"] } },
  {
    en: "email",
    es: "correo electrónico",
    forms: { en: "emails?", es: "correo( electrónico)?|código de seis dígitos|responderá" },
    not: { en: ["e-mails?", "mails?"], es: ["e-mails?", "mails?"] },
  },
  { en: "code", es: "código", forms: { en: "(?<!ZIP )codes?(?! for a)", es: "códigos?" } },
  { en: "spam folder", es: "carpeta de correo no deseado", not: { en: ["junk"], es: ["spam"] } },
  {
    en: "connect",
    es: "conectar",
    forms: { en: "connect(s|ed|ing|ions?)?", es: "conect(ar|arse|e|a|ó|ado|ados|ando)|conéctese|conexi(ón|ones)" },
    not: { en: ["link(ed|ing)"], es: ["vincul(ar|ado|ada)"] },
  },
  { en: "renew", es: "renovar", forms: { es: "renovar(la)?|renueve|renovarlo" } },
  {
    en: "approve",
    es: "autorizar",
    forms: { es: "autori(ce|zar|zó)|autorícelo" },
    scope: "patients",
    not: { en: ["authorize", "allow(ed)? the sharing"] },
  },
  {
    en: "verify your identity",
    es: "verificar su identidad",
    forms: {
      en: "verify (your )?identity",
      es: "(verifi(que|car)|verificación)( otra vez| de nuevo| allí)? (de )?su identidad|verificar su identidad",
    },
  },
  {
    en: "identity check",
    es: "verificación de identidad",
    not: {
      en: ["identity (verification|proofing)", "verification of identity", "show who you are"],
      es: ["comprobación", "comprobar su identidad", "demuestre"],
    },
  },
  { en: "window", es: "ventana", not: { en: ["pop-?ups?"], es: ["pop-?ups?"] } },
  { en: "another browser", es: "otro navegador", forms: { es: "otro( navegador)?" } },
  { en: "cookie", es: "cookie", not: { es: ["galletas?"] } },
  // Progress and errors.
  { en: "get help", es: "obtener ayuda", forms: { es: "(obtener|pida) ayuda" } },
  {
    en: "expired",
    es: "vencido",
    forms: { en: "expired", es: "venci(ó|do|da)" },
    not: { en: ["run out", "ran out", "timed out", "lapsed"], es: ["caduc\\w+", "expir\\w+"] },
  },
  {
    en: "respond",
    es: "responder",
    forms: { en: "respond(s|ed|ing)?", es: "respond(e|er|erá|ió|ido|ieron)" },
    not: { en: ["answer(s|ed|ing)?"], es: ["contest\\w+"] },
  },
  { en: "automatically", es: "sola", not: { en: ["by itself", "on its own"], es: ["automáticamente", "por sí sola"] } },
  { en: "reference number", es: "número de referencia" },
  { en: "your hospital", es: "su hospital", forms: { en: "your hospital(?!s)", es: "su hospital" } },
  { en: "details for support", es: "datos para soporte", not: { es: ["asistencia"] } },
  {
    en: "test mode",
    es: "modo de prueba",
    not: { en: ["sandbox mode", "invented", "made-up"], es: ["inventad\\w+", "modo de pruebas"] },
  },
  { en: "privacy policy", es: "política de privacidad" },
  // Outdated phrases.
  {
    en: "again",
    es: "otra vez",
    forms: { es: "otra vez|de nuevo|más tarde|desde el principio|vuelve a pasar|reintentar|renovar\\w*|ya no" },
    not: { en: ["anew", "once more"] },
  },
  {
    en: "continue",
    es: "continuar",
    forms: { en: "continu(e|ing|es)", es: "continu(ar|ará|e)|continúe|ir a|podrá continuar" },
    not: { en: ["go on", "goes on", "going on", "proceed"], es: ["proseguir", "siga adelante"] },
  },
  { en: "filter by location", es: "filtrar por ubicación", not: { en: ["narrow down"], es: ["limitar la búsqueda"] } },
  {
    en: "no longer available",
    es: "ya no está disponible",
    not: { en: ["not there any ?more"], es: ["ya no existe"] },
  },
  { en: "too many attempts", es: "demasiados intentos", not: { en: ["too often"] } },
  {
    en: "in a few minutes",
    es: "en unos minutos",
    not: { en: ["(in )?some minutes", "at the moment"], es: ["algunos minutos", "en breve"] },
  },
  // Terms of the dashboard.
  {
    en: "organisation",
    es: "organización",
    scope: "dashboard",
    not: { en: ["organi[sz]ation of ours", "compan(y|ies) of ours", "organizations?"] },
  },
  {
    en: "authenticator app",
    es: "aplicación de autenticación",
    scope: "dashboard",
    not: { en: ["generators?", "one-time password app"] },
  },
  { en: "passkey", es: "llave de acceso", scope: "dashboard", not: { en: ["security keys?", "webauthn"] } },
  { en: "endpoint", es: "endpoint", scope: "dashboard", not: { en: ["receivers?"] } },
  { en: "response", es: "respuesta", scope: "dashboard" },
  { en: "payload", es: "cuerpo", scope: "dashboard", not: { en: ["bodies"] } },
  { en: "created", es: "creado", scope: "dashboard", not: { en: ["made"] } },
  { en: "requested", es: "solicitado", scope: "dashboard", not: { en: ["asked for", "was asked"] } },
  {
    en: "revoke",
    es: "revocar",
    scope: "dashboard",
    not: { en: ["take(s|n)? (it |that |them )?back", "taken away", "give(s|n)? back"] },
  },
  { en: "refresh", es: "actualizar", scope: "dashboard", not: { en: ["look again"] } },
  { en: "status", es: "estado", scope: "dashboard", not: { en: ["how it (fares|stands)", "state"] } },
  { en: "details", es: "detalles", scope: "dashboard", not: { en: ["what it is"] } },
  { en: "ID", es: "ID", scope: "dashboard" },
  { en: "one per line", es: "uno por línea", scope: "dashboard", not: { en: ["one a line"] } },
  { en: "sample patient", es: "paciente ficticio", scope: "dashboard", not: { en: ["test patients?", "fake"] } },
  {
    en: "replay",
    es: "reenviar",
    scope: "dashboard",
    forms: { en: "replay(ing)?", es: "reenviar" },
    not: { en: ["re-?sen[dt]", "recover what"] },
  },
  {
    en: "can’t",
    es: "no puede",
    scope: "dashboard",
    forms: { en: "(can|don|won|isn|aren|doesn|didn|couldn|wasn)’t", es: "no" },
    not: {
      en: [
        "cannot",
        "can not",
        "do not",
        "does not",
        "did not",
        "is not",
        "are not",
        "was not(?! approved)",
        "will not",
        "could not",
      ],
    },
  },
  {
    en: "someone",
    es: "alguien",
    forms: { es: "alguien|otra persona" },
    not: { en: ["somebody", "everybody", "nobody", "whoever (?!sent)"] },
  },
];
