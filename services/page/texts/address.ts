/** The part of the page's address behind `#`, without a key: view, then its words. */
export const addressOf = (view: string, ...words: readonly string[]): string =>
  // Colons need no escape, and a person reads them.
  `#${[view, ...words].map((word) => encodeURIComponent(word).replaceAll('%3A', ':')).join('/')}`

/** View and words of such an address. What is no address gives no words. */
export function wordsOf(address: string): string[] {
  try {
    return address.replace(/^#/, '').split('/').map(decodeURIComponent)
  } catch {
    return []
  }
}
