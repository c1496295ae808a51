"use client";
import { createElement, forwardRef, useEffect, useImperativeHandle, useRef } from "react";
import "./svc-widget.js";

/** React's own names stay; ours become attributes, which every version of React sets on a custom element. */
function attribute([name, value]) {
  if (name === "className") return ["class", value];
  if (name === "style" || /^on[A-Z]/.test(name)) return [name, value];
  const dashed = name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  return [dashed, value === true ? "" : value === false ? undefined : value];
}

function component(tag, event, property) {
  return forwardRef(function Widget({ children, [property]: listener, ...properties }, ref) {
    const element = useRef(null);
    const latest = useRef(listener);
    useImperativeHandle(ref, () => element.current, []);
    useEffect(() => void (latest.current = listener));
    useEffect(() => {
      const listening = new AbortController();
      element.current.addEventListener(event, (told) => latest.current?.(told), { signal: listening.signal });
      return () => listening.abort();
    }, []);
    const attributes = Object.fromEntries(Object.entries(properties).map(attribute));
    return createElement(tag, { ...attributes, ref: element }, children);
  });
}

export const SvcWidgetElement = component("svc-widget-element", "eventBus", "onEventBus");
export const SvcWidget = component("svc-widget", "orgConnectionCallback", "onOrgConnectionCallback");
