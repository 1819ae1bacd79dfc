import { tidyRule } from './rule.ts'
import { checkImports } from './rules/imports.ts'
import { written } from './tree.ts'

tidyRule('a folder imports only what the tables of ARCHITECTURE.md allow', {
  check: checkImports,
  on: written,
  atLeast: 80,
  planted: [
    {
      path: 'services/core/bars/bar.ts',
      text: "import type { Clock } from '../../ports/clock.ts'",
      complaint: 'imports ports; core may import core',
    },
    {
      path: 'services/rest/routes/history/route.ts',
      text: "export * from '../../../stores/embedded/bars.ts'",
      complaint: 'imports stores/embedded',
    },
    {
      path: 'services/stores/redis/limits.ts',
      text: "const other = await import('../embedded/limits.ts')",
      complaint: 'imports stores/embedded',
    },
    {
      path: 'services/stream/hub.ts',
      text: "type Server = import('../rest/server.ts').Server",
      complaint: 'imports rest',
    },
    {
      path: 'services/roles/all.ts',
      text: "import { virtualClock } from '../../test/support/fixtures/virtual-clock.ts'",
      complaint: 'imports test/support',
    },
    {
      path: 'test/acceptance/history.test.ts',
      text: "import { compoundKey } from '../../services/core/feeds/compound-key.ts'",
      complaint: 'may import nothing of ours',
    },
    {
      path: 'services/stream/upgrade/upgrade-handler.ts',
      text: "import fastify from 'fastify'",
      complaint: 'belongs to rest, collector only',
    },
    {
      path: 'services/platform/log/log.ts',
      text: "import { x } from '@nobody/knows/deep'",
      complaint: 'add it to the package table',
    },
    {
      path: 'services/core/feeds/feed.ts',
      text: "import { readFileSync } from 'node:fs'",
      complaint: 'take it through a port',
    },
    {
      path: 'clients/typescript/src/fxd.ts',
      text: "import '../../../services/core/bars/bar.ts'",
      complaint: 'clients may import nothing of ours',
    },
    {
      path: 'clients/typescript/src/socket.ts',
      text: "import { WebSocket } from 'ws'",
      complaint: 'belongs to stream, canary only',
    },
    {
      path: 'services/canary/socket.ts',
      text: "import '../../clients/typescript/src/index.ts'",
      complaint: 'imports clients',
    },
    { path: 'services/lost/found.ts', text: "import '../core/bar.ts'", complaint: 'has no row' },
  ],
  fine: [
    { path: 'services/core/keys/api-key.ts', text: "import { createHash } from 'node:crypto'" },
    { path: 'services/stores/redis/limits.ts', text: "import Redis from 'ioredis'\nimport './lua.ts'" },
    { path: 'services/stores/redis/limits.ts', text: "import '../write-queue.ts'" },
    { path: 'services/roles/all.ts', text: "import '../stores/embedded/bars.ts'" },
    { path: 'services/rest/server.test.ts', text: "import '../stores/embedded/bars.ts'" },
    { path: 'test/contract/suites/bars.ts', text: "import '../../services/stores/embedded/bars.ts'" },
  ],
})
