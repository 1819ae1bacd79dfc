type Value = string | number | boolean | ((event: Event) => void)
export type Child = Node | string

/** Makes an element. A function is a listener of the event `name`; `true` and `false` set or omit an attribute. */
export function element<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Readonly<Record<string, Value>> = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag)
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === 'function') made.addEventListener(name, value)
    else if (typeof value === 'boolean') made.toggleAttribute(name, value)
    else made.setAttribute(name, String(value))
  }
  made.append(...children)
  return made
}

/** The element of index.html with this id. */
export function byId(id: string): HTMLElement {
  const found = document.getElementById(id)
  if (!found) throw new Error(`the page has no element ${id}`)
  return found
}

/** Replaces a text only if it differs, so that screen readers do not repeat it. */
export function say(place: HTMLElement, text: string): void {
  if (place.textContent !== text) place.textContent = text
}

/** Copies a text, and says so. Without TLS a page has no clipboard. */
export async function copyText(name: string, text: string, note: HTMLElement): Promise<void> {
  try {
    await navigator.clipboard.writeText(text)
    say(note, `${name} is copied.`)
  } catch {
    say(note, 'Select the text to copy it.')
  }
}

/** A color of the style sheet, which differs by light and dark. */
export const colorOf = (name: string): string =>
  getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim()

/** A table with its caption for screen readers. */
export function table(
  caption: string,
  head: readonly string[],
  rows: readonly (readonly Child[])[],
): HTMLElement {
  return element(
    'div',
    { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': caption },
    element(
      'table',
      {},
      element('thead', {}, element('tr', {}, ...head.map((text) => element('th', { scope: 'col' }, text)))),
      element(
        'tbody',
        {},
        ...rows.map(([first = '', ...others]) =>
          element(
            'tr',
            {},
            element('th', { scope: 'row' }, first),
            // At phone width each cell names its column.
            ...others.map((cell, i) => element('td', { 'data-name': head[i + 1] ?? '' }, cell)),
          ),
        ),
      ),
    ),
  )
}

/** Shows a table. If one is there already, only its rows change, so that focus and scrolling stay. */
export function showTable(place: HTMLElement, made: HTMLElement): void {
  const [present, next] = [place.querySelector('tbody'), made.querySelector('tbody')]
  if (present && next) present.replaceWith(next)
  else place.replaceChildren(made)
}
