/** Patient texts of TEFCA mode in English, as in en.ts. */
export const words = {
  tefca_intro_title: "Find your records with one identity check",
  tefca_intro_lead:
    "Through the TEFCA network, we ask hospitals and clinics nationwide for your records. You choose which places send your records to {org}.",
  tefca_once: "Verify your identity once",
  tefca_once_text: "An identity service confirms who you are. You don’t need a hospital password.",
  tefca_asked: "Where we look",
  tefca_asked_text:
    "We search hospitals and clinics in the network. To find your records, we send your verified details, such as your name, birth date and address.",
  tefca_shared_text:
    "Documents about your visits, medicines, test results, allergies and vaccines, with your name and contact details. Only the places you choose send documents.",
  tefca_stop_text: "To stop sharing, contact {org}.",
  tefca_from: "the places you choose",
  tefca_long: "Sharing lasts until you stop it.",
  tefca_simulated: "This is a test: the identity check and the hospitals aren’t real.",

  tefca_provider_title: "Who should verify your identity?",
  tefca_provider_lead: "Choose a service where you have an account, or one you’d like to use.",
  tefca_ready_title: "Verify your identity with {name}",
  tefca_next_window: "{name} will open in a new window.",
  tefca_next_prove: "Verify your identity. You may need a camera and an ID, such as your driver’s license or passport.",
  tefca_next_find: "Then you’ll return here, and we’ll look for your records.",
  tefca_next_choose: "Choose which places to connect.",
  tefca_go: "Continue to {name}",
  tefca_other: "Use another service",

  tefca_waiting_lead: "After {name} confirms who you are, this page will update automatically.",
  tefca_waiting: "Waiting for the identity check",
  tefca_waiting_noticed: "The {name} page is open",
  tefca_waiting_open: "Open the {name} page",
  tefca_cookies: "Does the window say you started in another browser?",
  tefca_cookies_text:
    "We need a cookie in your browser to know it’s you. Allow cookies in your browser settings, or use another browser. Open the window again from this page.",

  tefca_locating_title: "Looking for your records",
  tefca_locating_lead:
    "We’re asking hospitals and clinics in the network for your records. This can take a minute or two. You don’t need to do anything.",
  tefca_answered_none: "No places have responded yet",
  tefca_answered_one: "{n} place has responded so far",
  tefca_answered_other: "{n} places have responded so far",

  tefca_found_one: "{n} place has your records",
  tefca_found_other: "{n} places have your records",
  tefca_found_lead: "Choose which places send a copy of your records to {org}. No records are shared until you choose.",
  tefca_places: "Places with your records",
  tefca_all: "Select all",
  tefca_nothing: "Select none",
  tefca_connect: "Connect",
  tefca_connect_one: "Connect {n} place",
  tefca_connect_other: "Connect {n} places",
  tefca_choose_wrong: "Choose at least one place.",
  tefca_is_connected: "Connected",
  tefca_is_connecting: "Connecting…",
  tefca_is_failed: "Failed",
  tefca_ambiguous: "We couldn’t confirm it’s you",
  tefca_ambiguous_text:
    "These places found more than one possible match, so they sent no records. Ask each place to update your name, birth date and address, then try again.",
  tefca_unanswered: "No response",
  tefca_unanswered_text:
    "These places may have your records, but they didn’t respond in time. To try again, come back later and verify your identity.",
  tefca_none_title: "No records found in the network",
  tefca_none_lead:
    "None of the places that responded could confirm they have your records. Not every hospital is in the network yet.",
  tefca_none_moved:
    "Have you moved or changed your name? Update your account with the identity service, then try again.",
  tefca_none_search:
    "Your hospital may have a patient portal. Search for the hospital and sign in with your portal password.",
  tefca_none_help: "If you’re sure a place has your records, get help.",
  tefca_can: "What you can do",
  tefca_search: "Search for a hospital instead",
  tefca_again: "Verify identity again",

  tefca_connecting_title: "Connecting your records",
  tefca_connecting_lead: "We’re asking each place for your documents. This can take a few minutes.",
  tefca_settled: "Progress: {n} of {all} places",
  tefca_failed: "Not connected",
  tefca_refused: "Your records from this place won’t be shared. Ask the place why, or get help.",
  tefca_unavailable: "This place didn’t respond. Try again now or later.",
  tefca_too_large: "Your record at this place is too large for us to read. Get help.",
  tefca_other_person:
    "This place sent someone else’s records, which we didn’t keep. Report the mistake to this place, or get help.",
  tefca_invalid_content: "This place sent data we can’t read. If it happens again, get help.",
  tefca_identity_expired: "Your identity check expired before we could connect this place.",
  tefca_internal: "Something went wrong on our side. Try again.",
  tefca_retry: "Retry failed places",
  tefca_more: "Choose more places",
  tefca_ended: "Your identity check has expired. To connect more places, verify your identity again.",

  tefca_ended_title: "Your identity check has expired",
  tefca_ended_text: "Your connections stay active. To connect more places, verify your identity again.",
  tefca_declined_text: "You didn’t finish the identity check with {name}. If that was a mistake, try again.",
  tefca_unproven_title: "Your identity wasn’t confirmed",
  tefca_unproven_text:
    "The network needs more proof of your identity than {name} provided. Try again with a photo ID, or choose another identity service.",
  tefca_incomplete_text:
    "{name} didn’t confirm all the details we need: your name, birth date and address. Add these details at {name}, approve sharing them, and try again.",
  tefca_network_title: "The network isn’t responding",
  tefca_network_text:
    "We couldn’t request your records. You did nothing wrong, and no records were shared. Try again in a few minutes.",
  tefca_unready_title: "This identity service isn’t available yet",
  tefca_unready_text:
    "There’s a setup problem between us and {name}. You did nothing wrong, and nothing was shared. Get help, or use another service.",
  tefca_leaving_locating:
    "We’re still looking for your records. If you close this page, you’ll have to verify your identity again.",
  tefca_leaving_connecting:
    "We’re still connecting your records. You can close this page, but {org} may not see your connections right away.",
};

export type TefcaWords = Record<keyof typeof words, string>;
export type TefcaWord = keyof TefcaWords;
