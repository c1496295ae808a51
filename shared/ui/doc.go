// Package ui groups the widget, the dashboard and the playground, which are written in TypeScript
// (docs/guide/widget.md).
//
// It imports words. Its only Go package:
//
//   - pages serves the files of a build, and pages rendered for one organisation with their content security policies
//     (ADR 35).
package ui
