import { element, say } from './elements.ts'

/** Asks for a key. It stays in memory, unless a person wants it in the storage of the tab. */
export function keyForm(entered: (key: string, isKept: boolean) => void): HTMLElement {
  const key = element('input', {
    id: 'key',
    type: 'password',
    autocomplete: 'off',
    spellcheck: 'false',
    placeholder: 'fxd_…',
    required: true,
    'aria-describedby': 'reason',
  })
  const shown = element(
    'button',
    {
      type: 'button',
      class: 'quiet',
      'aria-pressed': 'false',
      click: () => {
        const isShown = key.type === 'password'
        key.type = isShown ? 'text' : 'password'
        shown.setAttribute('aria-pressed', String(isShown))
      },
    },
    'Show',
  )
  const keep = element('input', { id: 'keep', type: 'checkbox' })
  const reason = element('p', { id: 'reason', class: 'note', role: 'alert' })
  const submit = (event: Event): void => {
    event.preventDefault()
    say(reason, 'Asking the service…')
    entered(key.value.trim(), keep.checked)
  }
  return element(
    'form',
    { class: 'key', submit },
    element('h1', {}, 'Live and historical bars'),
    element('p', {}, 'See the feeds of your key, their charts, and where data is missing.'),
    element('label', { for: 'key' }, 'API key'),
    element('div', { class: 'row' }, key, shown, element('button', {}, 'Open')),
    reason,
    element('label', { class: 'check', for: 'keep' }, keep, 'Keep the key while this tab is open'),
    element(
      'p',
      { class: 'soft' },
      'Otherwise a reload asks for it again. Live charts send it in the address of a WebSocket.',
    ),
  )
}
