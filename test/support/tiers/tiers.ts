import { effort } from '../effort.ts'

/** One run of vitest. Its servers start before its first test and end with it, so they burden no other stage. */
export interface Stage {
  readonly name: string
  /** Names of `vitest.config.ts`. */
  readonly projects: readonly string[]
  /** Only files whose path contains one of these. */
  readonly files?: readonly string[]
  /** Test files at once; absent: two. More where most of the time is waited for. */
  readonly workers?: number
  /** Only files that import something which differs from the main branch. */
  readonly changedOnly?: boolean
}

const edgesOfTheChange: Stage = { name: 'affected edges', projects: ['edges'], changedOnly: true }
const parts: Stage = { name: 'parts', projects: ['unit', 'edges', 'tidy'] }
const acceptance: Stage = { name: 'acceptance', projects: ['acceptance', 'acceptance-clock'] }

/** What each command of the Makefile runs; `soak` is `test` with FXD_TEST_EFFORT=20. */
export const tiers: Readonly<Record<string, readonly Stage[]>> = {
  check: [{ name: 'units', projects: ['unit', 'tidy'] }, edgesOfTheChange],
  smoke: [
    parts,
    { name: 'embedded contracts', projects: ['contract'], files: ['test/contract/embedded'] },
    acceptance,
  ],
  test: [
    parts,
    { name: 'contract', projects: ['contract', 'charts'], workers: 4 },
    { name: 'sim', projects: ['sim'] },
    acceptance,
    { name: 'planted', projects: ['planted', 'interop'] },
    { name: 'acceptance on QuestDB', projects: ['acceptance-questdb'] },
    { name: 'cluster', projects: ['cluster'] },
    { name: 'rolling', projects: ['rolling'] },
    { name: 'faults', projects: ['faults', 'faults-cluster'], workers: 3 },
    // Needs root.
    { name: 'kubernetes', projects: ['kubernetes-api', 'kubernetes'] },
    // They need root or many minutes.
    ...(effort > 1
      ? [
          { name: 'long faults', projects: ['faults-long'] },
          { name: 'kubernetes, all', projects: ['kubernetes-soak'] },
          { name: 'acceptance on Kubernetes', projects: ['kubernetes-acceptance'] },
        ]
      : []),
  ],
}
