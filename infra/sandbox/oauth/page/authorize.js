// Draws the page from its JSON block. Text goes through textContent only, so nothing in it becomes markup.
"use strict";

const view = JSON.parse(document.getElementById("page-data").textContent);
const main = document.getElementById("main");

function element(name, text, properties = {}) {
  const node = Object.assign(document.createElement(name), properties);
  node.textContent = text;
  return node;
}

function heading(text) {
  main.append(element("h1", text, { tabIndex: -1 }));
  document.title = `${text} - Orchard Health (sandbox)`;
}

function signIn() {
  heading("Sign in");
  main.append(element("p", `The app “${view.app}” asks to see your health records. Who are you today?`));
  const people = element("ul", "", { className: "people" });
  for (const person of view.people) {
    const link = element("a", "", { href: person.href });
    link.append(element("strong", person.name), element("span", person.about));
    const item = element("li", "");
    item.append(link);
    people.append(item);
  }
  main.append(people);
  const actions = element("p", "", { className: "actions" });
  actions.append(element("a", "Cancel and go back to the app", { href: view.deny }));
  main.append(actions);
}

function consent() {
  heading("Share your health records?");
  main.append(element("p", `You are signed in as ${view.person}. The app “${view.app}” asks to read:`));
  const data = element("ul", "", { className: "data" });
  for (const label of view.data) {
    data.append(element("li", label));
  }
  main.append(data);
  main.append(element("h2", "For how long"));
  main.append(element("p", view.offline
    ? "For one year, even while you're away. The app can only read your records; it can't change them."
    : "Until this sign-in ends. The app can only read your records; it can't change them."));
  const actions = element("p", "", { className: "actions" });
  actions.append(
    element("a", "Allow access", { href: view.approve, className: "button primary" }),
    element("a", "Deny", { href: view.deny, className: "button" }),
    element("a", "Sign in as someone else", { href: view.back }),
  );
  main.append(actions);
}

function problem() {
  heading("This link does not work");
  main.append(element("p", view.problem));
  main.append(element("p", "Go back to the app and try again. If it happens again, contact the app's support."));
  const detail = element("p", "Parameter: ", { className: "notice" });
  detail.append(element("code", view.wrong_parameter));
  main.append(detail);
}

({ sign_in: signIn, consent: consent, error: problem })[view.kind]();
main.querySelector("h1").focus();
