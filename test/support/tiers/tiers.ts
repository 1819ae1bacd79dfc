import { effort } from '../effort.ts'

/** One run of vitest. Its servers start before its first test and end with the stage. */
export interface Stage {
  readonly name: string
  /** Names of projects in `vitest.config.ts`. */
  readonly projects: readonly string[]
  /** Runs only files whose path contains one of these texts. */
  readonly files?: readonly string[]
  /** Maximum concurrent test files; default: two. More for stages that mostly wait. */
  readonly workers?: number
  /** Runs only files that import a file that differs from the main branch. */
  readonly changedOnly?: boolean
}

const edgesOfTheChange: Stage = { name: 'affected edges', projects: ['edges'], changedOnly: true }
const unitsAndEdges: Stage = { name: 'unit and edges', projects: ['unit', 'edges', 'tidy'] }
const acceptance: Stage = { name: 'acceptance', projects: ['acceptance', 'acceptance-clock'] }

/** Stages of `make soak` only: they need root or many minutes. */
export const soakStages: readonly Stage[] = [
  { name: 'long faults', projects: ['faults-long'] },
  { name: 'kubernetes, all', projects: ['kubernetes-soak'], workers: 2 },
  { name: 'acceptance on Kubernetes', projects: ['kubernetes-acceptance'] },
]

/** The stages of each command of the Makefile; `soak` is `test` with FXD_TEST_EFFORT=5. */
export const tiers: Readonly<Record<string, readonly Stage[]>> = {
  check: [{ name: 'units', projects: ['unit', 'tidy'] }, edgesOfTheChange],
  smoke: [
    unitsAndEdges,
    { name: 'embedded contracts', projects: ['contract'], files: ['test/contract/embedded'] },
    acceptance,
  ],
  test: [
    unitsAndEdges,
    { name: 'contract', projects: ['contract', 'charts'], workers: 4 },
    { name: 'sim', projects: ['sim', 'terminals'] },
    acceptance,
    { name: 'planted', projects: ['planted', 'interop', 'clients'] },
    { name: 'acceptance on QuestDB', projects: ['acceptance-questdb'] },
    { name: 'cluster', projects: ['cluster'] },
    { name: 'rolling', projects: ['rolling'] },
    { name: 'faults', projects: ['faults', 'faults-cluster'], workers: 3 },
    // This stage needs root.
    { name: 'kubernetes', projects: ['kubernetes-api', 'kubernetes'], workers: 3 },
    ...(effort > 1 ? soakStages : []),
  ],
}
