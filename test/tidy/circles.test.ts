import { tidyRule } from './rule.ts'
import { checkCircles, checkFolderCircles } from './rules/circles.ts'
import { shipped } from './tree.ts'

const path = 'services/ingest/feed/feed-state.ts'
const other = 'services/ingest/feed/liveness.ts'
const third = 'services/ingest/session/session.ts'

tidyRule('no import circles of files', {
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

tidyRule('no import circles of folders beside each other', {
  check: checkFolderCircles,
  on: shipped,
  atLeast: 300,
  planted: [
    {
      path,
      text: "import '../session/session.ts'",
      beside: [{ path: third, text: "import type { Liveness } from '../feed/liveness.ts'" }],
      complaint: `${path} imports ${third}, and ${third} imports ${other}: a circle of folders; move`,
    },
    {
      path,
      text: "import '../session/session.ts'",
      beside: [
        { path: third, text: "import '../check/check-batch.ts'" },
        { path: 'services/ingest/check/limits/bars.ts', text: "import '../../feed/liveness.ts'" },
      ],
      complaint: `and services/ingest/check/limits/bars.ts imports ${other}: a circle of folders`,
    },
    {
      path,
      text: "import '../../stream/hub.ts'",
      beside: [{ path: 'services/stream/sockets/answers.ts', text: "import '../../ingest/server.ts'" }],
      complaint: 'and services/stream/sockets/answers.ts imports services/ingest/server.ts: a circle',
    },
  ],
  fine: [
    { path, text: "import './liveness.ts'\nimport '../session/session.ts'\nimport '../metrics.ts'" },
    {
      path: 'services/ingest/server.ts',
      text: "import './feed/feed-state.ts'\nimport './session/session.ts'",
    },
    { path: third, text: "import './stream/collector-stream.ts'\nimport '../session-end.ts'" },
    { path: 'services/ingest/session/stream/collector-stream.ts', text: "import '../session.ts'" },
  ],
})
