"""Words that say nothing about what a text is about, in English and Korean, folded."""

from typing import Final

_ENGLISH: Final = """
a able about above across actually after again against ago all almost already also although always
am among an and another any anyone anything are aren't around as ask asked at away back be became
because become been before being below best better between both but by came can can't cannot
certainly come comes could couldn't course definitely did didn't do does doesn't doing don't done
down during each either else enough etc even ever every everyone everything few first for found
from further gave get gets getting give given gives glad go goes going gone good got great had
hadn't happy has hasn't have haven't having he hello help helpful her here here's hers herself hi
him himself his hope how how's however i i'd i'll i'm i've if in indeed instead into is isn't it
it'd it'll it's its itself just keep kind know known last least less let let's like likely little
long look looking looks lot made make makes making many may maybe me might mine more most much
must my myself need needs neither never next no nor not nothing now of off often oh ok okay on
once one only onto or other others otherwise our ours ourselves out over own per perhaps please
possible put quite rather really right said same say says see seem seems seen several shall she
should shouldn't simply since so some someone something sometimes soon still such sure take taken
tell than thank thanks that that's the their theirs them themselves then there there's therefore
these they they'd they'll they're they've thing things think this those though through thus to
together told too toward towards try two under until up upon us use used uses using usually very
via want wanted wants was wasn't way we we'd we'll we're we've welcome well were weren't what
what's whatever when when's where where's whether which while who who's whom whose why will with
within without won't would wouldn't yes yet you you'd you'll you're you've your yours yourself
yourselves
"""
_KOREAN: Final = """
가능 각각 감사 감사합니다 같은 같이 거기 거의 겁니다 것 것은 것을 것이 것입니다 결국 경우 계속
고맙습니다 그 그것 그게 그냥 그대로 그래도 그래서 그러나 그러니까 그러면 그런 그런데 그럼 그렇게
그렇습니다 그렇지만 그리고 그중 기본적 까지 나 나는 나중 내 내가 너무 너의 네 누가 누구 다 다른
다만 다시 다음 당신 당연 대로 대부분 대신 대한 대해 대해서 더 더욱 덜 도움 도움이 동안 되고 되는
두 뒤 드려 드릴 등 따라 따라서 따로 따른 때 때는 때문 때문에 또 또는 또한 뜻 로 를 마다 마치 만약
만일 만큼 많은 많이 말 말씀 매우 먼저 모두 모든 못 무슨 무엇 무엇을 물론 및 바로 밖에 반드시 받은
받을 방금 번 보내 보낸 보다 보통 부터 분 뿐 사실 사용 서로 수 아 아니 아니라 아니면 아니요 아래
아래의 아마 아주 아직 안 안녕 안녕하세요 알려 앞 앞으로 약간 어느 어디 어떤 어떻게 언제 언제나
얼마나 없는 없다 없습니다 없어요 없이 에서 여기 여러 여러분 역시 예 오직 왜 요 우리 위 위의 위한
위해 위해서 유용 으로 은 을 의 이 이것 이게 이는 이런 이렇게 이를 이미 이번 이상 이에 이용 이제
이후 인 일단 있게 있고 있는 있다 있도록 있습니다 있어 있어서 있어요 있으며 있으면 있을 자주 자체
잘 저 저는 저도 저의 저희 전 전혀 정도 정말 제 제가 조금 좀 좋겠습니다 좋습니다 좋아요 좋은 주로
주세요 주시면 중 지금 직접 진짜 질문 차라리 처음 천만에요 최대한 통해 통해서 특히 편 필요 하고
하나 하는 하지만 한 한번 할 함께 항상 해 해당 해도 혹시 혹은 확실 후 훨씬
"""
STOP_WORDS: Final = frozenset(f"{_ENGLISH} {_KOREAN}".split())
"""Left out of keywords and of the weight of sentences; a sentence that is kept keeps them."""
