import type { Resolution } from '../../../clients/typescript/src/types.ts'
import type { App } from '../app.ts'
import { element, say } from '../elements.ts'
import { timeOf, timeText } from '../texts/words.ts'
import type { ChartPane, ClockName } from './chart-pane.ts'
import { resolutions } from './resolutions.ts'

/** Kept while views change, as a person expects of a setting. */
let clock: ClockName = 'feed'
export const utcHelp =
  'UTC is the time of the feed by its offset of today: it is wrong for times before the last change of daylight saving time.'

export function resolutionButtons(
  supported: readonly Resolution[],
  present: Resolution,
  chosen: (resolution: Resolution) => void,
): HTMLElement {
  return element(
    'div',
    { class: 'choices', role: 'group', 'aria-label': 'Length of a bar' },
    ...resolutions.map(({ value, label, words }) => {
      const disabled = !supported.includes(value)
      return element(
        'button',
        {
          'aria-pressed': String(value === present),
          title: disabled ? `${words}: not collected for this symbol` : words,
          disabled,
          click: () => chosen(value),
        },
        label,
      )
    }),
  )
}

/** `changed` is called once the chart has the clock. */
export function clockBox(app: App, pane: ChartPane, signal: AbortSignal, changed: () => void): HTMLElement {
  const utc = element('option', { value: 'utc' }, 'UTC')
  const select = element(
    'select',
    { id: 'clock', title: utcHelp },
    element('option', { value: 'feed' }, 'Feed'),
    utc,
  )
  const show = (): void => {
    utc.disabled = !pane.hasUtc
    select.value = pane.hasUtc ? clock : 'feed'
  }
  pane.clock = clock
  show()
  app.onStatus(show, signal)
  select.addEventListener('change', () => {
    clock = select.value === 'utc' ? 'utc' : 'feed'
    pane.clock = clock
    changed()
  })
  return element('div', { class: 'field' }, element('label', { for: 'clock' }, 'Clock'), select)
}

interface JumpBox {
  readonly element: HTMLElement
  /** Shows the time of the address, which is on the clock of the feed. Without one only the name of the clock changes. */
  show(time: number | undefined): void
}

export function jumpBox(pane: ChartPane, chosen: (time: number) => void): JumpBox {
  const input = element('input', { id: 'jump', type: 'datetime-local' })
  const label = element('label', { for: 'jump' })
  const submit = (event: Event): void => {
    event.preventDefault()
    const time = timeOf(input.value)
    if (time !== undefined) chosen(time - pane.shift)
  }
  return {
    element: element('form', { class: 'field', submit }, label, input, element('button', {}, 'Go')),
    show(time) {
      say(label, `Go to (${pane.isUtc ? 'UTC' : 'feed clock'})`)
      if (time !== undefined) input.value = timeText(time + pane.shift).replace(' ', 'T')
    },
  }
}
