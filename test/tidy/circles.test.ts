import { tidyRule } from './rule.ts'
import { checkCircles } from './rules/circles.ts'
import { shipped } from './tree.ts'

const path = 'services/ingest/feed/feed-state.ts'
const other = 'services/ingest/feed/liveness.ts'
const third = 'services/ingest/session/session.ts'

tidyRule('no import circles', {
  check: checkCircles,
  on: shipped,
  atLeast: 300,
  planted: [
    {
      path,
      text: "export const a = 1\nimport { Liveness } from './liveness.ts'",
      beside: [{ path: other, text: "import type { FeedState } from './feed-state.ts'" }],
      complaint: `${path}:2 imports ${other}, which imports ${path}; move`,
    },
    {
      path,
      text: "import './liveness.ts'",
      beside: [
        { path: other, text: "export * from '../session/session.ts'" },
        { path: third, text: "type State = import('../feed/feed-state.ts').FeedState" },
      ],
      complaint: `${path}:1 imports ${other}, which imports ${third}, which imports ${path}; move`,
    },
    { path, text: "import './feed-state.ts'", complaint: `imports ${path}; move` },
  ],
  fine: [
    { path, text: "import './liveness.ts'\nimport '../session/session.ts'" },
    { path: other, text: "import '../session/session.ts'\nimport 'node:fs'" },
    { path: third, text: "import pino from 'pino'" },
  ],
})
