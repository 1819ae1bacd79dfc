import type { SymbolInfo } from '../../../clients/typescript/src/types.ts'
import type { App } from '../app.ts'
import { settled } from '../browser.ts'
import { element } from '../elements.ts'

const typedMs = 250
const listMax = 50

/** An input with suggestions from the service. `chosen` gets a compound key. */
export function symbolBox(app: App, symbol: string, chosen: (symbol: string) => void): HTMLElement {
  const list = element('datalist', { id: 'symbols' })
  const suggest = async (text: string): Promise<void> => {
    const search = text.split(':').at(-1) ?? ''
    const { symbols } = await app.rest.get<{ readonly symbols: readonly SymbolInfo[] }>('symbols', {
      search: search || undefined,
      limit: listMax,
    })
    list.replaceChildren(
      ...symbols.map((each) => element('option', { value: each.symbol }, each.description)),
    )
  }
  const input = element('input', {
    id: 'symbol',
    list: 'symbols',
    value: symbol,
    autocomplete: 'off',
    spellcheck: 'false',
    placeholder: 'Search symbols',
  })
  // Without suggestions a compound key can still be typed.
  const refresh = settled(typedMs, () => void suggest(input.value).catch(() => undefined))
  input.addEventListener('input', () => {
    const isListed = [...list.children].some((option) => option.getAttribute('value') === input.value)
    if (isListed) chosen(input.value)
    else refresh()
  })
  input.addEventListener('focus', () => {
    input.select()
    refresh()
  })
  const submit = (event: Event): void => {
    event.preventDefault()
    chosen(input.value.trim())
  }
  return element(
    'form',
    { class: 'field grow', submit },
    element('label', { for: 'symbol' }, 'Symbol'),
    input,
    list,
  )
}
