// Package ui groups the widget, the dashboard and the playground, in TypeScript (docs/guide/widget.md).
//
// It imports words. Its only Go package:
//
//   - pages serves a build's files and the pages created for one organisation, with their policies (ADR 35).
package ui
