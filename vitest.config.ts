import { defineConfig } from 'vitest/config'
import { refusal } from './test/kubernetes/cluster/refusal.ts'
import { effort } from './test/support/effort.ts'

/** A second of a timeout; with more random cases it is longer. */
const secondMs = 1000 * Math.max(1, effort)
const minuteMs = 60 * secondMs

/** Timeouts of suites that start whole processes. */
const patient = { testTimeout: minuteMs, hookTimeout: minuteMs, expect: { poll: { timeout: 30_000 } } }
/** Timeouts of suites that start and kill QuestDB, whose start takes a minute on a busy machine. */
const veryPatient = {
  testTimeout: 3 * minuteMs,
  hookTimeout: 3 * minuteMs,
  expect: { poll: { timeout: minuteMs } },
}
/** For a suite whose cases are so slow that all of FXD_TEST_EFFORT would take `make soak` hours more. */
const effortAtMost = (most: number) => ({ env: { FXD_TEST_EFFORT: String(Math.min(most, effort)) } })
/** One file at a time, so that two cores are enough for its processes. */
const oneByOne = { ...patient, fileParallelism: false }
/** Setup of suites that need programs of Kubernetes. */
const withKubernetes = { globalSetup: ['test/kubernetes/cluster/build-programs.ts'] }
/** One real `fxd all` for all files of a suite. */
const oneProcess = { globalSetup: ['test/support/processes/all-process.ts'] }
/** The same with its bars in QuestDB. */
const oneProcessOnQuestdb = {
  globalSetup: ['test/support/processes/all-process-questdb.ts'],
  env: { FXD_ACCEPTANCE_STORE: 'questdb' },
}

/** Tests that start whole servers and commands on real stores: too slow for the minute of `make check`. */
const edges = ['rest', 'stream', 'cli', 'roles'].map((folder) => `services/${folder}/**/*.test.ts`)

const isSoak = effort > 1
/** Faults that take many minutes: only `make soak` runs them. */
const longFaults = ['test/faults/questdb/{network,planted,disk-full,lost}.test.ts']
/** Whole clusters of processes beside the API server: only `make soak` runs them. */
const longApi = ['test/kubernetes/api/{owners,lost-objects}.test.ts']
/** Each file starts a cluster, whose users may notice no fault; it mostly waits. */
const clusterFaults = ['test/faults/cluster/*.test.ts']

/** Tests of the data folder and the end of `fxd all`, or of the suite itself; a cluster does not run them. */
const ofOneProcess = ['test/acceptance/restart.test.ts', 'test/acceptance/coverage-map.test.ts']
/** Tests in which `fxd all` on QuestDB differs from the embedded store and from the cluster: its end, and counting usage. */
const ofOneProcessOnQuestdb = ['test/acceptance/{restart,usage}.test.ts']

/**
 * Groups run in order, smallest parts first; the files of one group share the workers. Vitest starts the servers of
 * all projects of a run before its first test: test/support/tiers runs them in stages.
 */
const suite = (name: string, include: string[], groupOrder: number, more: object = {}) => ({
  extends: true as const,
  test: { name, include, sequence: { groupOrder }, ...more },
})

/** Real processes of every role behind a load balancer. */
const clusters = [
  suite('cluster', ['test/cluster/*.test.ts', 'test/acceptance/*.test.ts'], 10, {
    ...veryPatient,
    globalSetup: ['test/support/cluster/acceptance.ts'],
    exclude: ofOneProcess,
  }),
  // A cluster of its own, whose processes are replaced.
  suite('rolling', ['test/cluster/rolling/*.test.ts'], 11, veryPatient),
]

/** Without nodes only `kubernetes-api` runs: its control plane is real, its pods are processes. */
const canRunNodes = refusal() === undefined
const kubernetes = [
  // Each file starts a cluster, whose pods start slowly.
  suite('kubernetes', ['test/kubernetes/*.test.ts'], 12, {
    ...oneByOne,
    ...withKubernetes,
    testTimeout: 6 * minuteMs,
  }),
]

export default defineConfig({
  test: {
    environment: 'node',
    pool: 'forks',
    maxWorkers: 2,
    // The files that a worker runs share their modules: loading them anew for each file takes half of the time.
    isolate: false,
    restoreMocks: true,
    // A busy machine needs 5 s to start a process, and some tests start several.
    testTimeout: 30 * secondMs,
    hookTimeout: 30 * secondMs,
    // Within the test's own time. Vitest's default of 1 s is less than a busy machine needs to start a thread.
    expect: { poll: { timeout: 15_000 } },
    // No result may depend on the time zone of the machine, so this one is unusual.
    env: { TZ: 'Asia/Kathmandu' },
    setupFiles: ['test/support/effort.ts'],
    reporters: ['default', './test/support/tally-reporter.ts'],
    projects: [
      suite('unit', ['{services,operator,clients}/**/*.test.ts'], 1, { exclude: edges }),
      suite('edges', edges, 1),
      suite('tidy', ['test/tidy/**/*.test.ts'], 1, { testTimeout: 5 * minuteMs }),
      // Each random case of a property creates separate tables.
      suite('contract', ['test/contract/**/*.test.ts'], 2, { ...veryPatient, ...effortAtMost(2) }),
      // Some tests render the chart hundreds of times.
      suite('charts', ['test/charts/*.test.ts'], 2, {
        ...veryPatient,
        ...withKubernetes,
        testTimeout: 6 * minuteMs,
      }),
      // Programs of terminals, compiled by g++.
      suite('terminals', ['test/terminals/*.test.ts'], 3, patient),
      suite('sim', ['test/sim/*.test.ts'], 3, { testTimeout: 15 * minuteMs, ...effortAtMost(10) }),
      suite('acceptance', ['test/acceptance/*.test.ts'], 4, { ...patient, ...oneProcess }),
      suite('acceptance-clock', ['test/acceptance-clock/*.test.ts'], 4, patient),
      suite('acceptance-questdb', ofOneProcessOnQuestdb, 5, { ...veryPatient, ...oneProcessOnQuestdb }),
      // Each file starts the service.
      suite('clients', ['test/clients/**/*.test.ts'], 6, patient),
      suite('interop', ['test/interop/**/*.test.ts'], 6, { ...patient, ...oneProcess }),
      suite('planted', ['test/acceptance/planted/*.test.ts'], 6, patient),
      suite('faults', ['test/faults/**/*.test.ts'], 7, {
        ...veryPatient,
        // Checks of collectors mostly wait.
        maxConcurrency: 12,
        exclude: [...clusterFaults, ...longFaults],
      }),
      suite('faults-cluster', clusterFaults, 7, veryPatient),
      ...(isSoak ? [suite('faults-long', longFaults, 9, oneByOne)] : []),
      suite('kubernetes-api', ['test/kubernetes/api/*.test.ts'], 9, {
        ...patient,
        globalSetup: ['test/kubernetes/api/support/api-server.ts'],
        exclude: isSoak ? [] : longApi,
      }),
      ...clusters,
      ...(canRunNodes ? kubernetes : []),
      ...(isSoak
        ? [
            // Each file starts a cluster, and mostly waits.
            suite('kubernetes-soak', ['test/kubernetes/soak/*.test.ts'], 13, {
              ...withKubernetes,
              ...patient,
              testTimeout: 30 * minuteMs,
            }),
            // The acceptance suite on installed charts, through their ingress.
            suite('kubernetes-acceptance', ['test/acceptance/*.test.ts'], 14, {
              ...veryPatient,
              globalSetup: ['test/kubernetes/cluster/build-programs.ts', 'test/kubernetes/acceptance.ts'],
              // The tunnel's HAProxy refuses incomplete handshakes itself.
              exclude: [...ofOneProcess, 'test/acceptance/half-handshakes.test.ts'],
            }),
          ]
        : []),
    ],
  },
})
