/** The acceptance suite owns these functions, because it may import nothing of ours. Other tests import them from here. */
export { freePorts, isFree } from '../acceptance/client/free-ports.ts'
