import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { readTemplate } from './template.ts'

function written(text: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'fxd-template-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  writeFileSync(join(folder, 'template.json'), text)
  return join(folder, 'template.json')
}

test('a pod template with a container is returned unchanged', () => {
  const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'collector' }] } }
  expect(readTemplate(written(JSON.stringify(template)))).toEqual(template)
})

test.for([
  ['is no JSON', 'spec:', 'cannot be read as JSON'],
  ['has no container', '{"spec": {"containers": []}}', 'spec.containers: wanted at least one'],
  [
    'sets what the operator sets',
    '{"spec": {"containers": [{"env": [{"name": "FXD_FEEDS", "value": "x"}]}]}}',
    'the operator sets FXD_FEEDS; leave it out',
  ],
  [
    'has a volume of the operator',
    '{"spec": {"containers": [{}], "volumes": [{"name": "spool"}]}}',
    'the operator sets spool; leave it out',
  ],
] as const)('a template that %s is rejected; the error names FXD_COLLECTOR_TEMPLATE', ([, text, message]) => {
  const path = written(text)
  expect(() => readTemplate(path)).toThrow(message)
  expect(() => readTemplate(path)).toThrow(`FXD_COLLECTOR_TEMPLATE (${path})`)
})
