import { expect, test } from 'vitest'
import { failures } from '../../services/core/failure.ts'
import { closings } from '../../services/stream/connection/close-codes.ts'
import { textOf } from './tree.ts'

const page = textOf('docs/api.md')

test('docs/api.md lists every error with its status', () => {
  const rows = [...page.matchAll(/^\| (\d{3}) \| `(\w+)` \|/gm)].map(([, status, code]) => [
    code,
    Number(status),
  ])
  expect(Object.fromEntries(rows)).toEqual(
    Object.fromEntries(Object.entries(failures).map(([code, { status }]) => [code, status])),
  )
})

test('docs/api.md lists every close code of the service', () => {
  const rows = [...page.matchAll(/^\| (\d{4}) \|/gm)].map(([, code]) => Number(code))
  // The WebSocket library closes with 1009.
  const codes = [1009, ...Object.values(closings).map(({ code }) => code)]
  expect(rows).toEqual(codes.sort((a, b) => a - b))
})
