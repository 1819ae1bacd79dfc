declare const kind: unique symbol

/** `BROKER:ACCOUNT`, both upper-case. */
export type FeedKey = string & { readonly [kind]: 'feed' }
/** `BROKER:ACCOUNT:NAME`; the name may contain dots, further colons and significant lower case. */
export type CompoundKey = string & { readonly [kind]: 'compound' }

export interface KeyParts {
  readonly broker: string
  readonly account: string
  readonly feed: FeedKey
  readonly name: string
}

/** Splits at the first two colons; `undefined` for fewer than three non-empty parts. */
export function parseCompoundKey(text: string): KeyParts | undefined {
  const first = text.indexOf(':')
  const second = text.indexOf(':', first + 1)
  if (first <= 0 || second <= first + 1 || second === text.length - 1) return undefined
  return {
    broker: text.slice(0, first),
    account: text.slice(first + 1, second),
    feed: text.slice(0, second) as FeedKey,
    name: text.slice(second + 1),
  }
}

/** The feed of a valid key, as every `CompoundKey` is. */
export const feedOf = (symbol: CompoundKey): FeedKey => parseCompoundKey(symbol)?.feed as FeedKey

export const feedKey = (broker: string, account: string): FeedKey => `${broker}:${account}` as FeedKey
export const compoundKey = (feed: FeedKey, name: string): CompoundKey => `${feed}:${name}` as CompoundKey

const feedShape = /^[A-Z][A-Z0-9]*:[A-Z][A-Z0-9]*$/
export const isFeedKey = (text: string): text is FeedKey => feedShape.test(text)
