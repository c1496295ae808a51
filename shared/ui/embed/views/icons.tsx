/** Icons, which always appear next to text and carry no meaning alone. */
const paths = {
  back: "M15 5l-7 7 7 7",
  next: "M9 6l6 6-6 6",
  search: "M11 4a7 7 0 1 0 0 14 7 7 0 0 0 0-14M16.5 16.5 21 21",
  check: "M5 12.5l4.5 4.5L19 7.5",
  cross: "M7 7l10 10M17 7 7 17",
  clock: "M12 7.5V12l3 2M12 3.5a8.5 8.5 0 1 0 0 17 8.5 8.5 0 0 0 0-17",
  lock: "M7.5 10.5v-3a4.5 4.5 0 0 1 9 0v3M6 10.5h12v9H6z",
  list: "M6 3.5h9l4 4v13H6zM9.5 11h6M9.5 15h6",
  hand: "M12 3.5a8.5 8.5 0 1 0 0 17 8.5 8.5 0 0 0 0-17M8.5 12h7",
};

export type IconName = keyof typeof paths;

export function Icon({ name }: { name: IconName }) {
  return (
    <svg
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      stroke-width="1.75"
      stroke-linecap="round"
      stroke-linejoin="round"
      aria-hidden="true"
    >
      <path d={paths[name]} />
    </svg>
  );
}
