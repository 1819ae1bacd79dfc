import { asFxdError } from '../../../clients/typescript/src/error.ts'
import type { SymbolInfo } from '../../../clients/typescript/src/types.ts'
import type { App } from '../app.ts'
import { settled } from '../browser.ts'
import { element } from '../elements.ts'
import { failureText } from '../texts/failures.ts'

const typedMs = 250
const listMax = 50
/** Matches that a sentence names. */
const namesMax = 5

export interface SymbolList {
  readonly symbols: readonly SymbolInfo[]
  readonly total: number
}

interface Wanted {
  /** Gets a compound key that exists. */
  readonly chosen: (symbol: string) => void
  /** Why what a person typed is no choice; empty: nothing is wrong. */
  readonly say: (text: string) => void
}

/** The symbols that a text means: those with this key or name, in any case, or else all whose name has it. */
export function meant(text: string, symbols: readonly SymbolInfo[]): readonly SymbolInfo[] {
  const same = symbols.filter(({ symbol }) => symbol === text)
  if (same.length > 0) return same
  const wanted = text.toLowerCase()
  const keys = symbols.map((each) => [each, each.symbol.toLowerCase()] as const)
  const named = keys.filter(([, key]) => key === wanted || key.endsWith(`:${wanted}`))
  const matching = named.length > 0 ? named : keys.filter(([, key]) => key.includes(wanted))
  return matching.map(([each]) => each)
}

/** An input with suggestions from the service. */
export function symbolBox(
  app: App,
  { chosen, say }: Wanted,
): { readonly element: HTMLElement; readonly input: HTMLInputElement } {
  const list = element('datalist', { id: 'symbols' })
  const find = async (text: string): Promise<SymbolList> => {
    const search = text.split(':').at(-1) || undefined
    const found = await app.rest.get<SymbolList>('symbols', { search, limit: listMax })
    list.replaceChildren(
      ...found.symbols.map((each) => element('option', { value: each.symbol }, each.description)),
    )
    return found
  }
  const input = element('input', {
    id: 'symbol',
    list: 'symbols',
    autocomplete: 'off',
    spellcheck: 'false',
    placeholder: 'Search symbols',
  })
  // Enter asks again, and says what fails.
  const refresh = settled(typedMs, () => void find(input.value).catch(() => undefined))
  const choose = (symbol: string): void => {
    input.value = symbol
    say('')
    chosen(symbol)
  }
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault()
    const text = input.value.trim()
    if (text === '') return
    try {
      const { symbols, total } = await find(text)
      if (input.value.trim() !== text) return
      const [first, ...others] = meant(text, symbols)
      if (first && others.length === 0) return choose(first.symbol)
      // The service searches names. A whole key may have another name, and the chart says whether it exists.
      if (!first && text.split(':').length === 3) return choose(text)
      if (!first) return say(`No symbol of this key matches “${text}”.`)
      const names = [first, ...others].map(({ symbol }) => symbol)
      const count = names.length === listMax ? total : names.length
      const more = count > namesMax ? ', …' : ''
      say(`${count} symbols match: ${names.slice(0, namesMax).join(', ')}${more}`)
    } catch (cause) {
      const error = asFxdError(cause)
      if (!app.refused(error)) say(failureText(error))
    }
  }
  input.addEventListener('input', () => {
    const isListed = [...list.children].some((option) => option.getAttribute('value') === input.value)
    if (isListed) choose(input.value)
    else refresh()
  })
  input.addEventListener('focus', () => {
    input.select()
    if (list.children.length === 0) refresh()
  })
  return {
    element: element(
      'form',
      { class: 'field grow', submit: (event) => void submit(event) },
      element('label', { for: 'symbol' }, 'Symbol'),
      input,
      list,
    ),
    input,
  }
}
