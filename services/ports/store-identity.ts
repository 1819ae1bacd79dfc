/**
 * Which store the bars are in: a random word that the store itself has. It is also known outside of the store, so that
 * a server that lost its data, or another server, is never taken for a store without bars.
 */
export interface StoreIdentity {
  /** The word of the store in use; `undefined` until a server was accepted. */
  readonly word: string | undefined
  /**
   * Accepts the refused server as a new beginning: gives it another word, and makes missing tables. `false`: the server
   * is not refused, and nothing changed. Rejects with `Unavailable`; it may be repeated.
   */
  begin(): Promise<boolean>
}

/** The word as it is known outside of the store. Both calls reject with `Unavailable`. */
export interface KnownIdentity {
  /** The known word. Without one, the offered word becomes it, for the first of several processes. */
  agree(offered?: string): Promise<string | undefined>
  replace(word: string): Promise<void>
}
