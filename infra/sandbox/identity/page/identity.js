// Draws the page from its JSON block, in English or Spanish. Text goes through textContent only, so nothing in it becomes markup.
"use strict";

const texts = {
  en: {
    notice: "Simulation: no identity is verified, and all people are made up.",
    title: "Who are you today?",
    intro: "Pick a person. The application that sent you here gets this person’s verified name, date of birth, address and e-mail address.",
    born: "born", decline: "Decline and go back", options: "For testers: response options",
    shape: "Format of the claims", fault: "Simulated error",
    errorTitle: "This link does not work", error: "Go back to the application and try again. If it happens again, contact its support.",
    shapes: { "cms-flat": "Flat, with a level (CMS-aligned)", "sop-flat": "Flat, without a level (TEFCA SOP)", "verified-claims": "Verified claims (OpenID Connect for Identity Assurance)" },
    faults: {
      "none": "Nothing", "low-level": "Identity assurance level 1 only", "expires-soon": "The token expires in 20 seconds", "expired": "The token has expired", "old-session": "The person signed in a day ago",
      "wrong-audience": "The token has another audience", "wrong-nonce": "The token belongs to another sign-in", "wrong-issuer": "The token has another issuer",
      "bad-signature": "The signature was made with another key", "unknown-key": "The key is unknown", "no-birth-date": "No date of birth", "no-address": "No address",
      "unavailable": "The provider is not available", "token-fails": "The token endpoint fails",
    },
  },
  es: {
    notice: "Simulación: no se verifica ninguna identidad y todas las personas son ficticias.",
    title: "¿Quién es usted hoy?",
    intro: "Elija a una persona. La aplicación que le ha enviado aquí recibe su nombre, fecha de nacimiento, dirección y correo electrónico verificados.",
    born: "fecha de nacimiento:", decline: "Rechazar y volver", options: "Para pruebas: opciones de respuesta",
    shape: "Forma de los datos", fault: "Error simulado",
    errorTitle: "Este enlace no funciona", error: "Vuelva a la aplicación e inténtelo de nuevo. Si vuelve a ocurrir, avise a su servicio de ayuda.",
    shapes: { "cms-flat": "Plana, con nivel (CMS)", "sop-flat": "Plana, sin nivel (TEFCA SOP)", "verified-claims": "Datos verificados (OpenID Connect for Identity Assurance)" },
    faults: {
      "none": "Nada", "low-level": "Solo nivel 1 de identidad", "expires-soon": "El token caduca en 20 segundos", "expired": "El token ha caducado", "old-session": "La persona inició sesión hace un día",
      "wrong-audience": "El token es para otro destinatario", "wrong-nonce": "El token es de otro inicio de sesión", "wrong-issuer": "El token es de otro emisor",
      "bad-signature": "La firma es de otra clave", "unknown-key": "La clave es desconocida", "no-birth-date": "Sin fecha de nacimiento", "no-address": "Sin dirección",
      "unavailable": "El proveedor no está disponible", "token-fails": "Falla la entrega del token",
    },
  },
};

const view = JSON.parse(document.getElementById("page-data").textContent);
const text = texts[view.language];
const main = document.getElementById("main");
const chosen = new URLSearchParams(location.search);

function element(name, content, properties = {}) {
  const node = Object.assign(document.createElement(name), properties);
  node.textContent = content;
  return node;
}

function heading(content) {
  main.append(element("h1", content, { tabIndex: -1 }));
  document.title = `${content} - Example Identity`;
}

// answer is the same request with the decision and what was chosen.
function answer(values) {
  const query = new URLSearchParams(chosen);
  for (const [name, value] of Object.entries(values)) {
    query.set(name, value);
  }
  return `?${query}`;
}

function point() {
  for (const link of main.querySelectorAll("a[data-person]")) {
    link.href = answer({ person: link.dataset.person, decision: "approve" });
  }
}

function select(name, values, labels) {
  const label = element("label", text[name]);
  const list = element("select", "", { name });
  for (const value of values) {
    list.append(element("option", labels[value] ?? value, { value }));
  }
  list.value = chosen.get(name) ?? values[0];
  list.addEventListener("change", () => {
    chosen.set(name, list.value);
    point();
  });
  label.append(list);
  return label;
}

function choice() {
  heading(text.title);
  main.append(element("p", text.intro));
  const people = element("ul", "", { className: "people" });
  for (const person of view.people) {
    const link = element("a", "");
    link.dataset.person = person.subject;
    link.append(
      element("strong", person.name),
      element("span", `${text.born} ${person.born}, ${person.home}. `),
      element("span", person.story, { lang: "en" }),
    );
    const item = element("li", "");
    item.append(link);
    people.append(item);
  }
  const options = element("details", "", { className: "options" });
  options.append(element("summary", text.options), select("shape", view.shapes, text.shapes), select("fault", view.faults, text.faults));
  const actions = element("p", "", { className: "actions" });
  actions.append(element("a", text.decline, { href: answer({ decision: "decline" }), className: "button" }));
  main.append(options, people, actions);
  point();
}

function problem() {
  heading(text.errorTitle);
  main.append(element("p", text.error));
}

document.documentElement.lang = view.language;
document.getElementById("notice").textContent = text.notice;
({ choice, error: problem })[view.kind]();
main.querySelector("h1").focus();
