"""The shop of the examples with a model that answers turns, for `memoranda serve --app`."""

from examples.refunds.shop import authority, shop
from memoranda import App
from tests.journeys.turn.talking import Answering

app = App(domain=shop, authority=authority, model=Answering())
