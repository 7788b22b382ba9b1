/**
 * Lists all objects of a type in one consistent state: in pages, and in one piece if the server forgets that state
 * before the last page.
 */
import type { KubeClient, Page } from './client.ts';
import type { Answer } from './kube-failure.ts';
import type { KubeObject, ResourceType, Selection } from './resource.ts';

type Wanted<T extends KubeObject> = {
  client: KubeClient;
  type: ResourceType<T>;
  selection?: Selection;
  signal: AbortSignal;
};

export type ListPages<T extends KubeObject> = () => Promise<Answer<Omit<Page<T>, 'token'>>>;

const PAGE_ITEMS_MAX = 500;

export function createListPages<T extends KubeObject>(wanted: Wanted<T>): ListPages<T> {
  const { client, type, selection, signal } = wanted;
  let limit = PAGE_ITEMS_MAX;
  return async () => {
    const items: T[] = [];
    let page: Page<T> | undefined;
    do {
      const query = { ...selection, limit, token: page?.token, signal };
      const answer: Answer<Page<T>> = await client.listPage(type, query);
      if (!answer.ok) {
        limit = answer.failure.reason === 'Gone' ? 0 : PAGE_ITEMS_MAX;
        return answer;
      }
      page = answer.value;
      items.push(...page.items);
    } while (page.token !== undefined);
    limit = PAGE_ITEMS_MAX;
    return { ok: true, value: { items, resource_version: page.resource_version } };
  };
}
