import { tidyRule } from './rule.ts'
import { checkImpureCalls } from './rules/impure-calls.ts'
import { shipped } from './tree.ts'

const path = 'services/stream/hub.ts'

tidyRule('only the files that ARCHITECTURE.md names use clocks, timers, randomness and the environment', {
  check: checkImpureCalls,
  on: shipped,
  atLeast: 60,
  planted: [
    { path, text: 'const now = Date.now()', complaint: 'uses Date' },
    { path, text: 'const now = new Date()', complaint: 'take the Clock port' },
    { path, text: 'const tell = globalThis.Date', complaint: 'Date' },
    { path, text: 'const own = { Date }', complaint: 'uses Date' },
    { path, text: 'performance.now()', complaint: 'uses performance' },
    { path, text: 'setTimeout(() => {}, 5)', complaint: 'uses setTimeout' },
    { path, text: "import { setTimeout as sleep } from 'node:timers/promises'", complaint: 'node:timers' },
    { path, text: 'const half = Math.random()', complaint: 'uses Math.random' },
    { path, text: 'AbortSignal.timeout(5)', complaint: 'AbortSignal.timeout' },
    { path, text: "import { randomUUID } from 'node:crypto'", complaint: 'uses randomUUID' },
    {
      path,
      text: "import crypto from 'node:crypto'\ncrypto.randomBytes(4)",
      complaint: 'crypto.randomBytes',
    },
    { path, text: 'const port = process.env.PORT', complaint: 'services/platform/config.ts' },
    { path, text: 'const { PORT } = process.env', complaint: 'uses process.env' },
  ],
  fine: [
    { path, text: 'const first = new Date(Date.UTC(2024, 0)).getUTCDay()' },
    { path, text: 'clock.after(5, run); clock.random(); const lent: Date = bar.Date' },
    { path, text: 'const port = { setTimeout: 1, performance() {} }' },
    { path: 'services/platform/system-clock.ts', text: 'setTimeout(run, Date.now())' },
    { path: 'services/platform/config.ts', text: 'parse(process.env)' },
  ],
})
