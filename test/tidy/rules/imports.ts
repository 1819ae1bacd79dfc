import { imported, importsOf } from '../syntax.ts'
import { allowedImports, anywhere, packages } from '../tables.ts'
import type { TextFile } from '../tree.ts'

/** Modules of Node that core and ports may import: they read no clock, file or network. */
const pureModules = new Set(['node:assert', 'node:assert/strict', 'node:crypto', 'node:buffer', 'node:util'])

/** The area of a path: the first column of the import table. */
function areaOf(path: string): string | undefined {
  const [top = '', folder = '', inner = ''] = path.split('/')
  if (top === 'services') return folder === 'stores' ? `stores/${inner.replace(/\.ts$/, '')}` : folder
  if (top === 'operator' || top === 'clients') return top
  return top === 'test' ? `test/${folder}` : undefined
}

/** Files directly in services/stores are shared by all stores and have rows of their own. */
const sharedByStores = new Set(['stores/write-queue'])

const rowOf = (area: string): string =>
  area.startsWith('stores/') && !sharedByStores.has(area) ? 'stores/X' : area

const packageOf = (request: string): string =>
  request
    .split('/')
    .slice(0, request.startsWith('@') ? 2 : 1)
    .join('/')

export function checkImports(files: readonly TextFile[]): string[] {
  const allowed = allowedImports()
  const foldersOf = packages()

  const complain = ({ path }: TextFile, request: string): string | undefined => {
    const area = areaOf(path)
    if (area === undefined || (path.endsWith('.test.ts') && !area.startsWith('test/'))) return undefined
    const ships = !area.startsWith('test/')
    const mayImport = allowed.get(rowOf(area))
    if (mayImport === undefined) {
      return ships
        ? `${path}: "${area}" has no row in the import table of ARCHITECTURE.md; add one`
        : undefined
    }

    if (request.startsWith('.')) {
      const target = areaOf(imported(path, request))
      if (target === undefined || target === area || mayImport.includes(rowOf(target))) return undefined
      if (mayImport.includes(anywhere) && !target.startsWith('test/')) return undefined
      return `${path} imports ${target}; ${area} may import ${mayImport.join(', ') || 'nothing of ours'}`
    }

    if (!ships) return undefined
    const pure = area === 'core' || area === 'ports'
    if (request.startsWith('node:')) {
      return pure && !pureModules.has(request)
        ? `${path} imports ${request}; ${area} is pure: take it through a port`
        : undefined
    }
    const folders = foldersOf.get(packageOf(request))
    if (folders?.includes(area)) return undefined
    return folders === undefined
      ? `${path} imports ${request}; add it to the package table of ARCHITECTURE.md`
      : `${path} imports ${request}; it belongs to ${folders.join(', ')} only`
  }

  return files.flatMap((file) => importsOf(file).flatMap((request) => complain(file, request) ?? []))
}
