/** One line of `fxd doctor`. */
export interface Finding {
  readonly about: string
  readonly state: 'ok' | 'warning' | 'wrong'
  readonly found: string
  /** What a person does about it; every finding except `ok` has one. */
  readonly cure?: string
}

export const passed = (about: string, found: string): Finding => ({ about, state: 'ok', found })

export const warning = (about: string, found: string, cure: string): Finding => ({
  about,
  state: 'warning',
  found,
  cure,
})

export const problem = (about: string, found: string, cure: string): Finding => ({
  about,
  state: 'wrong',
  found,
  cure,
})
