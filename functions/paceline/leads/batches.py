"""Grouping accepted leads into streams and batches, written out as they fill."""

from __future__ import annotations

from collections.abc import Callable

from paceline.leads.lines import lead_to_line
from paceline.leads.numbers import numbers_key, to_numbers
from paceline.leads.sizes import parts_of_a_round
from paceline.models import Batch, Lead, Route, Stream
from paceline.ports import ObjectStore

# One object for 100 batches: few PUTs (250 for a million leads at 40), and some megabytes in memory for each stream.
BATCHES_IN_A_CHUNK = 100


class StreamOfBatches:
    """The batches of one route and one set of zones, being written below `prefix`.

    Ids are taken when a batch's first lead comes.
    """

    def __init__(
        self,
        campaign_id: str,
        prefix: str,
        stream: str,
        route: Route,
        zones: tuple[str, ...],
        batch_size: int,
        store: ObjectStore,
        next_batch_id: Callable[[], str],
    ) -> None:
        self.stream, self.route, self.zones = stream, route, zones
        self.leads = self.parts = 0
        self.batches: list[Batch] = []
        self.batch_size = batch_size
        self.most_parts = parts_of_a_round(route.parts_per_minute)
        self._campaign_id, self._prefix, self._store = campaign_id, prefix, store
        self._next_batch_id = next_batch_id
        self._minute_parts = self._unused_parts = 0
        self._chunk_no = 1
        self._chunk = bytearray()
        self._batches_in_chunk = 0
        self._numbers: dict[str, list[tuple[int, int, int]]] = {}
        self._batch_id = ""
        self._batch_leads = self._batch_parts = self._first_byte = 0

    @property
    def manifest_key(self) -> str:
        return f"{self._prefix}/streams/{self.stream}.json"

    @property
    def _chunk_key(self) -> str:
        return f"{self._prefix}/leads/{self.stream}-{self._chunk_no:04}.jsonl"

    def add(self, lead: Lead) -> None:
        """Put the lead into the open batch."""
        if self._batch_leads and self._batch_parts + lead.parts > self.most_parts:
            self._end_batch()
        if self._batch_leads == 0:
            self._batch_id = self._next_batch_id()
            self._numbers[self._batch_id] = []
        self._chunk += lead_to_line(lead)
        self._numbers[self._batch_id].append((lead.lead_no, lead.parts, lead.row_number))
        self._batch_leads += 1
        self._batch_parts += lead.parts
        if self._batch_leads == self.batch_size:
            self._end_batch()
        self._fill_minutes(lead.parts)

    def _fill_minutes(self, parts: int) -> None:
        """Pack the texts into minutes of the route, one after the other, and count what stays empty."""
        cap = self.route.parts_per_minute
        filled = self._minute_parts + parts
        if filled > cap:
            if self._minute_parts:
                self._unused_parts += cap - self._minute_parts
            filled = (parts - 1) % cap + 1  # a text longer than a minute ends in a later one
        self._minute_parts = filled

    def close(self) -> None:
        """Write what is still open."""
        if self._batch_leads:
            self._end_batch()
        if self._chunk:
            self._write_chunk()

    def to_stream(self, concurrency: int) -> Stream:
        """Return the finished stream as the manifest's item."""
        return Stream(
            campaign_id=self._campaign_id,
            stream=self.stream,
            route=self.route.name,
            zones=self.zones,
            batches=len(self.batches),
            leads=self.leads,
            parts=self.parts,
            manifest_bucket=self._store.bucket,
            manifest_key=self.manifest_key,
            concurrency=concurrency,
            unused_parts=self._unused_parts,
        )

    def _end_batch(self) -> None:
        self.batches.append(
            Batch(
                campaign_id=self._campaign_id,
                batch_id=self._batch_id,
                route=self.route.name,
                zones=self.zones,
                leads=self._batch_leads,
                parts=self._batch_parts,
                leads_key=self._chunk_key,
                first_byte=self._first_byte,
                last_byte=len(self._chunk) - 1,
            )
        )
        self.leads += self._batch_leads
        self.parts += self._batch_parts
        self._batches_in_chunk += 1
        if self._batches_in_chunk == BATCHES_IN_A_CHUNK:
            self._write_chunk()
        self._batch_leads = self._batch_parts = 0
        self._first_byte = len(self._chunk)

    def _write_chunk(self) -> None:
        self._store.put(numbers_key(self._chunk_key), to_numbers(self._numbers))
        self._store.put(self._chunk_key, bytes(self._chunk), "application/x-ndjson")
        self._chunk_no += 1
        self._chunk.clear()
        self._numbers.clear()
        self._batches_in_chunk = 0
