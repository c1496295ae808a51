// Package ui groups the widget, the dashboard, the playground and the record viewer, which are written in TypeScript
// (docs/guide/widget.md, docs/guide/view.md).
//
// The only Go package below ui imports words:
//
//   - pages serves the files of a build, and pages rendered for one organisation with their content security policies
//     (ADR 35).
package ui
