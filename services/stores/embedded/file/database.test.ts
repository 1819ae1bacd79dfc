import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { openForReading, openForWriting, snapshot, transaction } from './database.ts'

function newFile(): string {
  const folder = mkdtempSync(join(tmpdir(), 'fxd-database-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return join(folder, 'fxd.db')
}

test('a failed transaction changes nothing, and the next one works', () => {
  const db = openForWriting(newFile())
  const mark = db.prepare('INSERT INTO purged VALUES (?)')
  const marked = () =>
    db
      .prepare('SELECT series FROM purged')
      .all()
      .map(({ series }) => series)
  const failing = () =>
    transaction(db, () => {
      mark.run(1)
      mark.run('not a number')
    })
  expect(failing).toThrow('datatype mismatch')
  expect(marked()).toEqual([])
  transaction(db, () => mark.run(2))
  expect(marked()).toEqual([2])
  db.close()
})

test('every commit is on the disk before it is acknowledged', () => {
  const db = openForWriting(newFile())
  const value = (pragma: string) => Object.values(db.prepare(`PRAGMA ${pragma}`).get() ?? {})[0]
  const full = 2
  expect([value('journal_mode'), value('synchronous')]).toEqual(['wal', full])
  db.close()
})

test('a snapshot does not see rows written during it; the next snapshot does', () => {
  const path = newFile()
  const writer = openForWriting(path)
  const reader = openForReading(path)
  const count = () => reader.prepare('SELECT count(*) AS count FROM purged').get()?.['count']
  const write = () => transaction(writer, () => writer.exec('INSERT INTO purged DEFAULT VALUES'))
  snapshot(reader, () => {
    expect(count()).toBe(0)
    write()
    expect(count()).toBe(0)
  })
  expect(snapshot(reader, count)).toBe(1)
  expect(() => reader.exec('DELETE FROM purged')).toThrow('readonly')
  reader.close()
  writer.close()
})
