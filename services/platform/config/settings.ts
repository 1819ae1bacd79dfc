import type { variables } from './variables.ts'

/** Parsed and validated once at the start, then frozen; `variables` says what each setting means. */
export type Config = {
  readonly [Key in keyof typeof variables]: ReturnType<(typeof variables)[Key]['parse']>
}
