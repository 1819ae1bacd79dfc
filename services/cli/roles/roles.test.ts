import { expect, test } from 'vitest'
import { parseConfig } from '../../platform/config.ts'
import { readyLine } from './roles.ts'

test.for([
  ['auto', true, 'fxd rest is ready: HTTP 127.0.0.1:80, health and metrics 127.0.0.1:81\n'],
  ['text', false, 'fxd rest is ready: HTTP 127.0.0.1:80, health and metrics 127.0.0.1:81\n'],
  ['auto', false, ''],
  ['json', true, ''],
] as const)(
  'with the log format %s and a terminal (%s) a role says that it is ready: %j',
  ([format, watched, said]) => {
    const config = parseConfig({
      FXD_LOG_FORMAT: format,
      FXD_HTTP_ADDR: '0.0.0.0:80',
      FXD_OPS_ADDR: '0.0.0.0:81',
    })
    expect(readyLine({ watched }, 'rest', config, { httpPort: 80, opsPort: 81 })).toBe(said)
  },
)
