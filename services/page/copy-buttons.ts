import { copyText, element, say } from './elements.ts'
import { copies, type ProgramName, type Programs } from './texts/copies.ts'

/** Buttons that copy the request behind a view as a program. The key is never part of it. */
export function copyButtons(origin: string, programs: () => Programs): HTMLElement {
  const note = element('span', { class: 'soft', role: 'status' })
  const names: readonly ProgramName[] = ['curl', 'TypeScript', 'Python', 'Python without a package']
  const shown = element('pre', {
    class: 'program',
    tabindex: 0,
    hidden: true,
    'aria-label': 'The copied text',
  })
  const copy = (name: ProgramName): void => {
    const text = copies(origin, programs())[name]
    say(shown, text)
    shown.hidden = false
    void copyText(name, text, note)
  }
  return element(
    'div',
    { class: 'copy' },
    element('span', { class: 'soft' }, 'Copy as'),
    ...names.map((name) => element('button', { class: 'quiet', click: () => copy(name) }, name)),
    note,
    shown,
  )
}
