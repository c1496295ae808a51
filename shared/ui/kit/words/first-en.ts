/**
 * Patient texts in English for the first views, and for every view's frame. {braces} are placeholders. A key that ends in
 * _one has its plural under a key that ends in _other (Intl.PluralRules).
 */
export const lang = "en";
export const words = {
  back: "Back",
  close: "Close",
  help: "Get help",
  language: "Español",
  new_window: "opens in a new window",
  try_again: "Try again",
  optional: "optional",
  test_mode: "Test mode: sample patients only.",
  your_hospital: "your hospital",
  this_app: "this app",

  splash_title: "Share your health records with {org}",
  splash_lead: "You choose which hospitals and clinics to connect. We collect a copy of your records for {org}.",
  splash_shared: "What you share",
  splash_shared_text:
    "Visits, medicines, test results, allergies, vaccines, doctors’ notes, and your name and contact details. You decide what to share.",
  splash_password: "Your password stays private",
  splash_password_text: "You sign in on your hospital’s own page. Neither we nor {org} can see your password.",
  splash_stop: "Stop sharing at any time",
  splash_stop_text:
    "Sharing lasts until you stop it or your permission expires. To stop sharing, use your hospital’s patient portal or ask {org}.",
  splash_agree: "By continuing, you agree to {org}’s {terms} and {privacy}.",
  splash_agree_privacy: "By continuing, you agree to {org}’s {privacy}.",
  splash_agree_terms: "By continuing, you agree to {org}’s {terms}.",
  terms: "terms",
  privacy: "privacy policy",
  agree: "Agree and continue",
  continue: "Continue",

  email_title: "What is your email address?",
  email_lead: "We’ll email you a six-digit code to confirm it’s you.",
  email: "Email address",
  email_wrong: "Enter an email address like name@example.com.",
  email_send: "Send code",
  code_title: "Enter your code",
  code_lead: "We sent a code to {email}. The code works for 5 minutes. No email? Check your spam folder.",
  code: "Six-digit code",
  code_short: "Enter all six digits.",
  code_wrong: "This code is wrong or has expired. Check the code or request a new one.",
  code_again: "Send a new code",
  code_wait: "You can request a new code in 30 seconds.",
  code_other: "Use another email",

  search_title: "Find your hospital or clinic",
  search: "Hospital, clinic or practice",
  search_hint: "Type part of the name. Many clinics are listed under their health system.",
  search_used: "Popular with {org} patients",
  search_busy: "Searching…",
  search_filter: "Filter by location",
  found_one: "{n} result",
  found_other: "{n} results",
  found_none: "No results for “{query}”",
  found_nothing: "No results",
  found_none_hint: "Check the spelling. Try a shorter name or the health system’s name.",
  more: "Show more",
  away_one: "{n} mile away",
  away_other: "{n} miles away",
  is_connected: "Connected",
  more_places_one: "and {n} more location",
  more_places_other: "and {n} more locations",
  missing: "I can’t find my hospital",
  health_down: "Not responding right now",
  health_degraded: "Having problems",
  connected_one: "{n} connected",
  connected_other: "{n} connected",
  review: "Finish",

  portal_other: "Choose another portal",
  next: "What happens next",
  go: "Continue to sign in",
  preparing: "Getting ready…",
  slow: "This is taking longer than usual. You can wait, or choose another hospital.",

  waiting: "Waiting for you to sign in",
  waiting_none: "Don’t see the window?",
  stopping: "Canceling…",
  cancel: "Cancel",

  done: "Done",
  closed: "You can close this window now.",

  reference: "Reference",
  copy: "Copy",
  copied: "Copied",

  send: "Send",
  required: "Fill in this field.",

  offline: "You’re offline. Nothing is lost. You can continue when you’re back online.",
  network_trouble: "We couldn’t reach the service. Check your internet connection and try again.",
  limited_trouble: "Too many attempts. Wait a minute and try again.",
  refused_trouble: "That didn’t work. Check what you entered and try again.",
  lost_trouble: "This page is no longer available. Please start again.",
  unavailable_trouble: "The service isn’t available right now. Try again in a minute.",

  stay: "Keep waiting",
  leave: "Cancel and close",
};

export type FirstWords = Record<keyof typeof words, string>;
