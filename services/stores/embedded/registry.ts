import { serviceReader } from '../../core/fair-queue.ts'
import type { RegistryRow, RegistryStore } from '../../ports/registry.ts'
import type { FileWriter } from './threads/file-writer.ts'
import type { Readers } from './threads/readers.ts'

export function embeddedRegistry(writer: FileWriter, readers: Readers): RegistryStore {
  return {
    append(basedOn, bodies) {
      const rows = bodies.map(({ kind, id, body }) => ({ kind, id, body: JSON.stringify(body) }))
      return writer.call('append', { basedOn, rows }, 'live')
    },
    async since(version) {
      const rows = await readers.call('registrySince', version, serviceReader('registry'))
      return rows.map((row) => ({ ...row, body: JSON.parse(row.body) as unknown }) as RegistryRow)
    },
  }
}
