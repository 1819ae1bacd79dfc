/** One line of `fxd doctor`. */
export interface Finding {
  readonly about: string
  readonly state: 'ok' | 'warning' | 'wrong'
  readonly found: string
  /** What a person does about it; every finding except `ok` has one. */
  readonly cure?: string
}

export const passed = (about: string, found: string): Finding => ({ about, state: 'ok', found })

const needing =
  (state: 'warning' | 'wrong') =>
  (about: string, found: string, cure: string): Finding => ({ about, state, found, cure })

export const warning = needing('warning')
export const problem = needing('wrong')
