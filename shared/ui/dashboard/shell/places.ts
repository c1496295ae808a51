/** Lists the screens for navigation and search. */
import type { JSX } from "preact";
import { Account } from "../screens/account.tsx";
import { Audit } from "../screens/audit.tsx";
import { Branding } from "../screens/branding.tsx";
import { Connections } from "../screens/connections.tsx";
import { Connection } from "../screens/connection.tsx";
import { Credentials } from "../screens/credentials.tsx";
import { Credential } from "../screens/credential.tsx";
import { Deliveries } from "../screens/deliveries.tsx";
import { Delivery } from "../screens/delivery.tsx";
import { Export, Exports } from "../screens/exports.tsx";
import { Inbox, Inquiry } from "../screens/inbox.tsx";
import { Institutions } from "../screens/institutions.tsx";
import { GoingLive } from "../screens/live.tsx";
import { Log, Logs } from "../screens/logs.tsx";
import { Members } from "../screens/members.tsx";
import { Overview } from "../screens/overview.tsx";
import { Playground } from "../screens/playground.tsx";
import { Usage } from "../screens/usage.tsx";
import { Webhook } from "../screens/webhook.tsx";
import { Webhooks } from "../screens/webhooks.tsx";

export interface Screen {
  name: string; // the screen's name in the URL
  title: string;
  /** Additional search keywords. */
  words: string;
  group: "Build" | "Monitor" | "Organisation" | "Account";
  /** The permission that the screen requires. Without the permission, the screen would be empty. */
  needs?: "inspect" | "manage";
  show: () => JSX.Element;
  one?: (props: { id: string }) => JSX.Element;
}

export const screens: readonly Screen[] = [
  { name: "", title: "Overview", words: "home start checklist quick", group: "Build", show: Overview },
  {
    name: "credentials",
    title: "Credentials",
    words: "keys public id private key redirect uris origins rotate",
    group: "Build",
    show: Credentials,
    one: Credential,
  },
  {
    name: "webhooks",
    title: "Webhooks",
    words: "events secret signing simulate subscription",
    group: "Build",
    show: Webhooks,
    one: Webhook,
  },
  { name: "playground", title: "Playground", words: "widget demo try element", group: "Build", show: Playground },
  {
    name: "going-live",
    title: "Going live",
    words: "live mode request checklist review approval production",
    group: "Build",
    show: GoingLive,
  },
  {
    name: "deliveries",
    title: "Deliveries",
    words: "attempts replay log curl failed",
    group: "Monitor",
    show: Deliveries,
    one: Delivery,
  },
  {
    name: "connections",
    title: "Connections",
    words: "patients timeline erase disconnect",
    group: "Monitor",
    show: Connections,
    one: Connection,
  },
  {
    name: "exports",
    title: "Exports",
    words: "tasks records missing outcome",
    group: "Monitor",
    show: Exports,
    one: Export,
  },
  {
    name: "institutions",
    title: "Institutions",
    words: "hospitals portals health status down search catalogue brand endpoint",
    group: "Monitor",
    show: Institutions,
  },
  {
    name: "logs",
    title: "Logs",
    words: "api requests sign-ins attempts errors request id failed causes",
    group: "Monitor",
    show: Logs,
    one: Log,
  },
  { name: "usage", title: "Usage", words: "limits counts months csv chart", group: "Monitor", show: Usage },
  {
    name: "inbox",
    title: "Inbox",
    words: "support requests health system reply patients",
    group: "Monitor",
    needs: "inspect",
    show: Inbox,
    one: Inquiry,
  },
  {
    name: "branding",
    title: "Branding",
    words: "logo accent colour font radius dark purpose consent privacy terms name settings delete organisation",
    group: "Organisation",
    show: Branding,
  },
  {
    name: "members",
    title: "Members",
    words: "roles invitations people team owner",
    group: "Organisation",
    show: Members,
  },
  {
    name: "audit",
    title: "Audit log",
    words: "history who changed chain export",
    group: "Organisation",
    needs: "manage",
    show: Audit,
  },
  {
    name: "account",
    title: "Your account",
    words: "sign out passkey totp second factor authenticator email address",
    group: "Account",
    show: Account,
  },
];
