/** A plausible mistake and the acceptance test that must fail because of it. */
export interface Defect {
  readonly name: string
  /** Path in the repository. */
  readonly file: string
  /** Occurs exactly once in the file. */
  readonly search: string
  readonly replacement: string
  /** A file of test/acceptance and the title of one of its tests. */
  readonly noticedBy: readonly [suite: string, test: string]
}
